#!/bin/bash
# Builds the Kubernetes of the tests: kube-apiserver, kube-controller-manager, kube-scheduler and kubelet 1.20.2, from
# Debian's source package with Debian's Go, into $LP_KUBERNETES/bin, by default below ~/.cache/lp. It takes ten minutes
# of a processor, once: existing files are not built again. It needs golang-1.19-go; kubernetes_up.sh lists the other
# packages.
set -eu
K=${LP_KUBERNETES:-${XDG_CACHE_HOME:-$HOME/.cache}/lp/kubernetes}; GOROOT_=/usr/lib/go-1.19
BINARIES="kube-scheduler kube-controller-manager kube-apiserver kubelet"
missing=; for b in $BINARIES; do [ -x $K/bin/$b ] || missing="$missing $b"; done
[ "$missing" ] || exit 0
export GOPATH=$K/gopath GOCACHE=$K/gocache GO111MODULE=off GOFLAGS= CGO_ENABLED=0 HOME=$HOME
export PATH=$GOROOT_/bin:$PATH
S=$GOPATH/src/k8s.io/kubernetes
mkdir -p $K/bin
if [ ! -d $S ]; then
  cd $K
  if ! ls kubernetes_*.orig.tar.gz >/dev/null 2>&1; then    # deb-src entries of our own, without touching /etc/apt
    mkdir -p apt/lists/partial
    sed "s/^Types: deb$/Types: deb-src/" /etc/apt/sources.list.d/debian.sources > apt/src.sources   # this machine's own mirror
    O="-o Dir::Etc::sourcelist=$K/apt/src.sources -o Dir::Etc::sourceparts=/dev/null -o Dir::State::lists=$K/apt/lists -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User=root"
    apt-get $O -qq update; apt-get $O -qq source --download-only kubernetes
  fi
  mkdir -p $GOPATH/src/k8s.io
  tar xzf kubernetes_*.orig.tar.gz && mv kubernetes-1.20.* $S
fi
cd $S
# 1. the only generated file Debian's tree lacks: pkg/generated/openapi/zz_generated.openapi.go
if [ ! -s pkg/generated/openapi/zz_generated.openapi.go ]; then
  [ -x $K/bin/openapi-gen ] || go build -p 2 -o $K/bin/openapi-gen ./vendor/k8s.io/kube-openapi/cmd/openapi-gen
  # same selection as build/root/Makefile.generated_files: every dir with +k8s:openapi-gen=
  dirs=$(grep -rl --include='*.go' '+k8s:openapi-gen=' pkg cmd plugin staging/src/k8s.io 2>/dev/null |
         grep -v -e '_examples' -e code-generator/ -e sample-apiserver/ -e /testdata/ -e '_test\.go' |
         xargs -n1 dirname | sort -u |
         sed -e 's#^staging/src/#k8s.io/kubernetes/vendor/#' -e '\#^k8s.io#!s#^#k8s.io/kubernetes/#' | paste -sd,)
  nice -n 10 $K/bin/openapi-gen -h hack/boilerplate/boilerplate.generatego.txt -i "$dirs" \
     -p k8s.io/kubernetes/pkg/generated/openapi -O zz_generated.openapi -r $K/openapi-violations.txt
fi
# 2. the binaries (version stamp so that kubectl's skew test and /version say 1.20.2)
L="-s -w"
for p in k8s.io/kubernetes/vendor/k8s.io/client-go/pkg/version k8s.io/kubernetes/vendor/k8s.io/component-base/version; do
  L="$L -X $p.gitVersion=v1.20.2 -X $p.gitMajor=1 -X $p.gitMinor=20 -X $p.gitTreeState=archive"
done
for b in $missing; do
  t0=$(date +%s)
  nice -n 10 go build -p ${P:-2} -ldflags "$L" -o $K/bin/$b.new ./cmd/$b
  mv $K/bin/$b.new $K/bin/$b
  echo "$b built in $(( $(date +%s)-t0 )) s, $(stat -c %s $K/bin/$b) bytes"
done
cd $K; rm -rf $GOPATH $GOCACHE kubernetes_* apt  # five times as large as the binaries
