#!/bin/bash
# Ends the Kubernetes whose state is in $D, with everything that ran there, and removes $D.
: "${D:?}"; PFX=k8sns
# a zombie counts as dead: process 1 of such a sandbox may reap late
up() { [ -n "$1" ] && [ -e /proc/$1 ] && ! grep -q '^State:.Z' /proc/$1/status 2>/dev/null; }
export KUBECONFIG=$D/admin.conf
for f in $D/run/kubelet*.pid; do [ -s $f ] && kill $(cat $f) 2>/dev/null; done; sleep 0.3
# pods: containers and sandboxes through each node's own containerd
for s in $D/run/ctr*.sock; do [ -S $s ] || continue
  for t in $(ctr -a $s -n k8s.io tasks ls -q 2>/dev/null); do ctr -a $s -n k8s.io tasks kill -s KILL $t 2>/dev/null; done; sleep 0.5
  for t in $(ctr -a $s -n k8s.io containers ls -q 2>/dev/null); do ctr -a $s -n k8s.io tasks rm -f $t >/dev/null 2>&1; ctr -a $s -n k8s.io containers rm $t 2>/dev/null; done; done
for n in dnsloop dnsmasq containerd1 containerd2 containerd3 containerd4 scheduler controller-manager apiserver etcd; do
  f=$D/run/$n.pid; [ -s $f ] || continue; p=$(cat $f); kill $p 2>/dev/null
  for k in $(seq 80); do up $p || break; sleep 0.1; done; up $p && kill -9 $p 2>/dev/null; rm -f $f; done
grep -o "$D[^ ]*" /proc/mounts | sort -r | while read m; do umount -l $m; done
for ns in $(ip netns list | awk '{print $1}' | grep "^$PFX[0-9]*$"); do ip netns pids $ns | xargs -r kill -9; ip netns del $ns; done
ip link del ${PFX}br 2>/dev/null
for c in /sys/fs/cgroup/*/lp-[0-9]*; do [ -d $c ] && find $c -depth -type d -exec rmdir {} + 2>/dev/null; done
[ -s $D/sysctl ] && sysctl -qp $D/sysctl
rm -rf "$D"
exit 0
