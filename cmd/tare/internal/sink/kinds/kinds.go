// Package kinds lists the kinds of sinks, the destinations to which the ingest service can send events.
package kinds

import (
	"slices"

	"github.com/tarebench/tare/cmd/tare/internal/sink"
	"github.com/tarebench/tare/cmd/tare/internal/sink/jetstream"
	"github.com/tarebench/tare/cmd/tare/internal/sink/kafka"
	"github.com/tarebench/tare/cmd/tare/internal/sink/local"
	"github.com/tarebench/tare/cmd/tare/internal/sink/postgres"
	"github.com/tarebench/tare/cmd/tare/internal/sink/web"
)

//go:generate go test . -run TestDocsAreCurrent -update

// All returns the kinds of sinks, in the order of help and documents.
func All() sink.Kinds {
	return append(slices.Concat(local.Kinds(), web.Kinds()),
		kafka.Kind(),
		jetstream.Kind(),
		postgres.Kind(),
	)
}
