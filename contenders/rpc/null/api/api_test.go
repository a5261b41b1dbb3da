package api_test

import (
	"testing"

	"github.com/tarebench/tare/apps/users/conformance"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contenders/rpc/null/api"
)

func TestHTTP(t *testing.T) {
	f := api.New()
	f.Protocols = []string{rpc.HTTP}
	conformance.Face(t, f, conformance.NoHTTP2, conformance.NoCancel)
}

func TestGRPC(t *testing.T) {
	f := api.New()
	f.Protocols = []string{rpc.GRPC}
	conformance.Face(t, f, conformance.NoCancel)
}
