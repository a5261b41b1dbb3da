// Package rpc measures contenders that serve app users, each over the protocol that
// it speaks. It is driven as package server drives its own, by one load generator
// for all, or by the client that a contender brings. The app defines the requests
// and their encoding.
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
