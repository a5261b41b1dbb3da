// Package apps lists the services that contenders serve. What one of them is stands
// in the package of its name; below it, serving has how programs serve it, workload
// what it is asked under a lab, and conformance what it must do.
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
	Stack string // the contender that serves it where none is named
	What  string // one line
}

// All are the services, the ones made for use first. The stacks are the cheapest of
// those that answer right, as far as studies have shown.
func All() []App {
	return []App{
		{ingestserving.App(nil), "nethttp-goccy", "takes batches of events that applications send home, and keeps them"},
		{homelabserving.App(nil), "nethttp", "the API of a house with devices"},
		{usersserving.App(nil, nil, nil, nil), "all", "keeps users, over gRPC, Connect and REST at once"},
		{server.Plain(tiny.Name, nil), "nethttp", "the smallest service worth a name"},
	}
}

// Settings are what can be chosen about it; about an app that is not listed nothing.
func (a App) Settings() []server.Setting {
	if a.New == nil {
		return nil
	}
	return a.New().Settings()
}
