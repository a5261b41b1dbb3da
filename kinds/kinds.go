// Package kinds holds the ways a study can ask its contenders, as one explicit
// value: there is no registry to fill.
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

// All returns every kind by the name studies use.
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
