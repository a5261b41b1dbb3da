// Package rpc is the kind of contenders that serve the app users, each over its own RPC
// protocol. A contender is loaded as those of package server are: by one load generator
// for all contenders, or by the client that the contender brings. The app defines the
// requests and their encoding.
package rpc

import (
	"github.com/tarebench/tare/apps/users/workload"
	"github.com/tarebench/tare/contender/rpc"
	"github.com/tarebench/tare/kinds/server"
)

// Name is what studies call the kind.
const Name = rpc.Kind

// New returns the rpc kind.
func New() *server.Kind { return server.Of(Name, workload.App()) }
