package face_test

import (
	"testing"

	"github.com/tarebench/tare/contender/contendertest"
	"github.com/tarebench/tare/contenders/rpc/gateway/face"
)

func TestFace(t *testing.T) { contendertest.Face(t, face.New()) }
