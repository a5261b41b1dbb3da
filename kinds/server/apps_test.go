package server_test

import (
	"testing"

	"github.com/tarebench/tare/apps/homelab"
	homelabwork "github.com/tarebench/tare/apps/homelab/workload"
	"github.com/tarebench/tare/apps/ingest"
	ingestwork "github.com/tarebench/tare/apps/ingest/workload"
	"github.com/tarebench/tare/apps/tiny"
	tinywork "github.com/tarebench/tare/apps/tiny/workload"
	"github.com/tarebench/tare/kinds/server"
)

func TestMain(m *testing.M) {
	server.RunTests(m, map[string]server.App{tiny.Name: tinywork.App(), ingest.Name: ingestwork.App(), homelab.Name: homelabwork.App()})
}
