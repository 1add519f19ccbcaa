#!/bin/bash
# A real Kubernetes on this machine, in half a minute: etcd, API server, controller manager and scheduler on a private
# bridge, and nodes (kubelet, containerd, runc), each in network, UTS and mount namespaces of its own. For root.
#   D       directory of its state and logs, which should be empty; KUBECONFIG=$D/admin.conf then reaches the cluster
#   IMAGES  archives for its nodes; localhost/pause:1, a program that waits, must be among them
# Binaries: those of kubernetes_build.sh, and Debian's etcd-server, containerd, runc, containernetworking-plugins,
# conntrack, iptables, iproute2, dnsmasq-base and kubernetes-client. kubernetes_down.sh ends it.
set -eu
K=${LP_KUBERNETES:-${XDG_CACHE_HOME:-$HOME/.cache}/lp/kubernetes}; : "${D:?}"; NODES=2
PFX=k8sns; NET=10.215.0; API=$NET.254; PORT=16443; POD=10.244
export PATH=$K/bin:$PATH
export D
# a zombie counts as dead: process 1 of such a sandbox may reap late
up() { [ -n "$1" ] && [ -e /proc/$1 ] && ! grep -q '^State:.Z' /proc/$1/status 2>/dev/null; }
alive() { [ -s "$1" ] && up "$(cat "$1")"; }
start() { # name cmd...   (daemon in its own session, pid in $D/run/name.pid)
  local n=$1; shift; alive $D/run/$n.pid && return 0
  setsid "$@" >>$D/log/$n.log 2>&1 </dev/null & echo $! > $D/run/$n.pid; }
mkdir -p $D/run $D/log $D/pki $D/etcd; chmod 700 $D/etcd $D/pki

# --- network
ip link show ${PFX}br >/dev/null 2>&1 || { ip link add ${PFX}br type bridge; ip addr add $API/24 dev ${PFX}br; ip link set ${PFX}br up; }

# --- keys
cd $D/pki
[ -s ca.crt ] || {
  openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -days 30 -subj /CN=lp-test-ca 2>/dev/null
  openssl genrsa -out sa.key 2048 2>/dev/null; openssl rsa -in sa.key -pubout -out sa.pub 2>/dev/null
  crt() { openssl req -newkey rsa:2048 -nodes -keyout $1.key -out $1.csr -subj "$2" 2>/dev/null
    openssl x509 -req -in $1.csr -CA ca.crt -CAkey ca.key -CAcreateserial -out $1.crt -days 30 \
      -extfile <(printf '%s' "subjectAltName=${3:-DNS:$1}") 2>/dev/null; }
  crt apiserver /CN=kube-apiserver "DNS:kubernetes.default.svc,DNS:localhost,IP:$API,IP:127.0.0.1,IP:10.96.0.1"
  crt admin /O=system:masters/CN=admin
  crt cm /CN=system:kube-controller-manager
  crt sched /CN=system:kube-scheduler
  for i in $(seq 1 9); do crt node$i /O=system:nodes/CN=system:node:node$i; done
}
for u in admin cm sched $(seq -f node%g 1 9); do
  printf 'apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: "https://%s:%s", certificate-authority: %s/pki/ca.crt}}]\nusers: [{name: u, user: {client-certificate: %s/pki/%s.crt, client-key: %s/pki/%s.key}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n' \
    $API $PORT $D $D $u $D $u > $D/$u.conf
done

# --- control plane
start etcd etcd --data-dir $D/etcd --listen-client-urls http://127.0.0.1:12379 --advertise-client-urls http://127.0.0.1:12379 \
  --listen-peer-urls http://127.0.0.1:12380 --initial-advertise-peer-urls http://127.0.0.1:12380 --initial-cluster default=http://127.0.0.1:12380
start apiserver kube-apiserver --etcd-servers=http://127.0.0.1:12379 --bind-address=$API --secure-port=$PORT \
  --advertise-address=$API --service-cluster-ip-range=10.96.0.0/16 --authorization-mode=Node,RBAC --client-ca-file=$D/pki/ca.crt \
  --tls-cert-file=$D/pki/apiserver.crt --tls-private-key-file=$D/pki/apiserver.key \
  --kubelet-client-certificate=$D/pki/admin.crt --kubelet-client-key=$D/pki/admin.key \
  --service-account-issuer=https://kubernetes.default.svc --service-account-key-file=$D/pki/sa.pub --service-account-signing-key-file=$D/pki/sa.key \
  --allow-privileged=true --kubelet-preferred-address-types=InternalIP --endpoint-reconciler-type=none
export KUBECONFIG=$D/admin.conf
for k in $(seq 300); do kubectl get --raw /readyz >/dev/null 2>&1 && break; sleep 0.1; done
# --- nodes.  kubelet sets vm.overcommit_memory, kernel.panic, kernel.panic_on_oops for the whole machine; k8s-down.sh puts them back
[ -s $D/sysctl ] || sysctl vm.overcommit_memory kernel.panic kernel.panic_on_oops | sed 's/ //g' > $D/sysctl
for i in $(seq 1 $NODES); do
  ns=$PFX$i; d=$D/node$i; mkdir -p $d/cni $d/ctr-root $d/ctr-run $d/kubelet $d/logs $d/netns /var/log/pods
  ip netns list | grep -qw $ns || {
    ip netns add $ns; ip link add ${ns}v type veth peer name eth0 netns $ns; ip link set ${ns}v master ${PFX}br up
    ip -n $ns addr add $NET.$i/24 dev eth0; ip -n $ns link set eth0 up; ip -n $ns link set lo up
    ip -n $ns route add default via $API      # a default route must exist; the bridge does not forward
    nsenter --net=/run/netns/$ns sysctl -qw net.ipv4.ip_forward=1
    ip route replace $POD.$i.0/24 via $NET.$i dev ${PFX}br    # the test driver and the DNS reach pods
    for j in $(seq 1 $NODES); do [ $j = $i ] || ip -n $ns route add $POD.$j.0/24 via $NET.$j; done; }
  cat > $d/cni/10.conflist <<C
{"cniVersion":"0.4.0","name":"pods","plugins":[{"type":"bridge","bridge":"cni0","isGateway":true,"ipMasq":false,
 "ipam":{"type":"host-local","dataDir":"$d/ipam","ranges":[[{"subnet":"$POD.$i.0/24"}]],"routes":[{"dst":"0.0.0.0/0"}]}}]}
C
  cat > $d/containerd.toml <<C
version = 2
root = "$d/ctr-root"
state = "$d/ctr-run"
oom_score = 0
[grpc]
  address = "$D/run/ctr$i.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$d/cni"
[plugins."io.containerd.internal.v1.opt"]
  path = "$d/opt"
C
  cat > $d/kubelet.yaml <<C
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: $NET.$i
port: 10250
readOnlyPort: 0
healthzPort: 0
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $D/pki/ca.crt}}
authorization: {mode: Webhook}
cgroupDriver: cgroupfs
cgroupRoot: /lp-$i
cgroupsPerQOS: true
enforceNodeAllocatable: []
oomScoreAdj: 0
failSwapOn: false
makeIPTablesUtilChains: false
nodeStatusUpdateFrequency: 2s
nodeLeaseDurationSeconds: 8
resolvConf: /dev/null
clusterDNS: [$API]
clusterDomain: cluster.local
imageGCHighThresholdPercent: 100
evictionHard: {memory.available: "1Mi"}
maxPods: 50
systemReserved: {}
C
  for c in cpu cpuacct cpuset memory pids systemd devices freezer blkio; do mkdir -p /sys/fs/cgroup/$c/lp-$i; done
  cat /sys/fs/cgroup/cpuset/cpuset.cpus > /sys/fs/cgroup/cpuset/lp-$i/cpuset.cpus; cat /sys/fs/cgroup/cpuset/cpuset.mems > /sys/fs/cgroup/cpuset/lp-$i/cpuset.mems
  # a kubelet removes the logs of pods that it does not know
  start containerd$i nsenter --net=/run/netns/$ns unshare --uts --mount sh -c "mount --bind $d/logs /var/log/pods && \
     mount --bind $d/netns /run/netns && hostname node$i && exec containerd -c $d/containerd.toml"
  for k in $(seq 100); do ctr -a $D/run/ctr$i.sock version >/dev/null 2>&1 && break; sleep 0.1; done
  for im in $IMAGES; do [ -e $im ] && ctr -a $D/run/ctr$i.sock -n k8s.io images import $im >/dev/null; done
  node=/proc/$(cat $D/run/containerd$i.pid)/ns
  start kubelet$i nsenter --net=$node/net --uts=$node/uts --mount=$node/mnt sh -c "exec kubelet --config=$d/kubelet.yaml --kubeconfig=$D/node$i.conf \
     --root-dir=$d/kubelet --hostname-override=node$i --node-ip=$NET.$i --container-runtime=remote \
     --container-runtime-endpoint=unix://$D/run/ctr$i.sock --cert-dir=$d/kubelet/pki --volume-plugin-dir=$d/volplug"
done
for k in $(seq 600); do [ "$(kubectl get nodes --no-headers 2>/dev/null | grep -cw Ready)" = $NODES ] && break; sleep 0.1; done
# the controller manager after the nodes: one that starts with no node at all treats the zone as disrupted
# and never puts the NoExecute taint on a node that is lost later
start controller-manager kube-controller-manager --kubeconfig=$D/cm.conf --bind-address=127.0.0.1 --port=0 --secure-port=11257 \
  --leader-elect=false --service-account-private-key-file=$D/pki/sa.key --root-ca-file=$D/pki/ca.crt --use-service-account-credentials=true \
  --cluster-signing-cert-file=$D/pki/ca.crt --cluster-signing-key-file=$D/pki/ca.key \
  --node-monitor-period=1s --node-monitor-grace-period=8s --pod-eviction-timeout=5s
start scheduler kube-scheduler --kubeconfig=$D/sched.conf --bind-address=127.0.0.1 --port=0 --secure-port=11259 --leader-elect=false
for k in $(seq 300); do kubectl get sa default >/dev/null 2>&1 && break; sleep 0.1; done

# --- stand-in for CoreDNS (not in Debian): dnsmasq fed from the API with HOST.SUBDOMAIN.NS.svc.cluster.local, and
#     SUBDOMAIN.NS.svc... -> every such pod (what a headless service answers)
if command -v dnsmasq >/dev/null; then
  : > $D/dns.hosts
  start dnsmasq dnsmasq --keep-in-foreground --conf-file=/dev/null --no-resolv --no-hosts --addn-hosts=$D/dns.hosts --local=/cluster.local/ \
     --listen-address=$API --bind-interfaces --user=root --pid-file= --local-ttl=1
  cat > $D/dnsloop <<'C'
while sleep 0.5; do
  kubectl get pods -A -o go-template='{{range .items}}{{if .status.podIP}}{{if .spec.subdomain}}{{.status.podIP}} {{if .spec.hostname}}{{.spec.hostname}}{{else}}{{.metadata.name}}{{end}}.{{.spec.subdomain}}.{{.metadata.namespace}}.svc.cluster.local {{.spec.subdomain}}.{{.metadata.namespace}}.svc.cluster.local{{"\n"}}{{end}}{{end}}{{end}}' 2>/dev/null | sort > $D/dns.new
  cmp -s $D/dns.new $D/dns.hosts || { cp $D/dns.new $D/dns.hosts; kill -HUP $(cat $D/run/dnsmasq.pid); }
done
C
  D=$D start dnsloop bash $D/dnsloop
fi
kubectl get nodes -o wide 2>/dev/null || true
