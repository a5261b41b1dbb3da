// Package kinds lists all kinds of contenders, such as codecs and HTTP servers. A kind defines how
// they are run, measured and checked.
package kinds

import (
	homelab "github.com/tarebench/tare/apps/homelab/workload"
	ingest "github.com/tarebench/tare/apps/ingest/workload"
	tiny "github.com/tarebench/tare/apps/tiny/workload"
	"github.com/tarebench/tare/kinds/codec"
	"github.com/tarebench/tare/kinds/copier"
	"github.com/tarebench/tare/kinds/gobench"
	"github.com/tarebench/tare/kinds/router"
	"github.com/tarebench/tare/kinds/rpc"
	"github.com/tarebench/tare/kinds/server"
	"github.com/tarebench/tare/lab"
)

// All returns every kind by its name in studies.
func All() map[string]lab.Kind {
	return map[string]lab.Kind{
		"codec":   codec.New(),
		"copier":  copier.New(),
		"gobench": gobench.New(),
		"router":  router.New(),
		"rpc":     rpc.New(),
		"server":  server.Of(server.Name, tiny.App(), ingest.App(), homelab.App()),
	}
}
