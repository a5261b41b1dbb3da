package api_test

import (
	"testing"

	"github.com/tarebench/tare/apps/users/conformance"
	"github.com/tarebench/tare/contenders/rpc/connect/api"
)

func TestFace(t *testing.T) { conformance.Face(t, api.New()) }
