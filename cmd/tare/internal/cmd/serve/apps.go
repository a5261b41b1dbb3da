package serve

import "github.com/tarebench/tare/contender/server"

// servedApp is a service that people may want to run for real.
type servedApp struct {
	Name  string
	Stack string // served with where none is asked for
	What  string // one line
}

// servedApps are the services, the ones made for use first. The stacks are the
// cheapest of those that answer right, as far as studies have shown.
func servedApps() []servedApp {
	return []servedApp{
		{server.AppIngest, "nethttp-goccy", "takes batches of events that applications send home, and keeps them"},
		{server.AppHomelab, "nethttp", "the API of a house with devices"},
		{server.AppUsers, "all", "keeps users, over gRPC, Connect and REST at once"},
		{"tiny", "nethttp", "the smallest service worth a name"},
	}
}
