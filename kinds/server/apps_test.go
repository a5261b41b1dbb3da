package server_test

import (
	"testing"

	homelabwork "github.com/tarebench/tare/apps/homelab/workload"
	ingestwork "github.com/tarebench/tare/apps/ingest/workload"
	tinywork "github.com/tarebench/tare/apps/tiny/workload"
	"github.com/tarebench/tare/kinds/server"
)

func TestMain(m *testing.M) {
	server.RunTests(m, tinywork.App(), ingestwork.App(), homelabwork.App())
}
