package face_test

import (
	"testing"

	"github.com/tarebench/tare/contender/contendertest"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/contenders/rpc/null/face"
)

func TestHTTP(t *testing.T) {
	f := face.New()
	f.Protocols = []string{rpc.HTTP}
	contendertest.Face(t, f, contendertest.NoHTTP2, contendertest.NoCancel)
}

func TestGRPC(t *testing.T) {
	f := face.New()
	f.Protocols = []string{rpc.GRPC}
	contendertest.Face(t, f, contendertest.NoCancel)
}
