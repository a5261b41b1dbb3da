package face_test

import (
	"testing"

	"github.com/tarebench/tare/apps/users/conformance"
	"github.com/tarebench/tare/contenders/rpc/gateway/face"
)

func TestFace(t *testing.T) { conformance.Face(t, face.New()) }
