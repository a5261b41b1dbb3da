// Package rpc is the kind of contenders that serve one app, users, each over its own RPC protocol.
// They are loaded as those of package server.
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
