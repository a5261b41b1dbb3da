// Package apps lists the services that contenders (the web servers that tare compares) serve. The
// logic of a service is in the package of its name. Of the packages below that, serving provides the
// service to programs, workload defines the requests of a study, and conformance defines the required
// behaviour.
package apps

import (
	homelabserving "github.com/tarebench/tare/apps/homelab/serving"
	ingestserving "github.com/tarebench/tare/apps/ingest/serving"
	"github.com/tarebench/tare/apps/tiny"
	usersserving "github.com/tarebench/tare/apps/users/serving"
	"github.com/tarebench/tare/contender/server"
)

// App is a service that a contender can serve for real.
type App struct {
	server.App
	Stack string // the contender that serves it by default
	What  string // one line
}

// All returns the services, the ones made for use first. The stacks are the cheapest correct ones,
// as far as studies have shown.
func All() []App {
	return []App{
		{ingestserving.App(nil), "nethttp-goccy", "takes batches of events that applications send home, and keeps them"},
		{homelabserving.App(nil), "nethttp", "the API of a house with devices"},
		{usersserving.App(nil, nil, nil, nil), "all", "keeps users, over gRPC, Connect and REST at once"},
		{server.Plain(tiny.Name, nil), "nethttp", "the smallest service worth a name"},
	}
}

// Settings returns the settings of the app; nil if it is not listed.
func (a App) Settings() []server.Setting {
	if a.New == nil {
		return nil
	}
	return a.New().Settings()
}
