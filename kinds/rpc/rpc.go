// Package rpc asks contenders that serve app users, each over the protocol that
// it speaks. It is driven as package server drives its own, by one load generator
// for all, or by the client that a contender brings. What is asked, and how it is
// said, is that of the app.
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
