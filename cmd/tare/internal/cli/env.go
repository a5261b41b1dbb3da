package cli

import (
	"context"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/bring/gate"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/lab"
)

// Env is what one call of tare works with.
type Env struct {
	In     io.Reader
	Out    io.Writer           // the product: tables, JSON
	Err    io.Writer           // progress and complaints
	Args   []string            // without the program's name
	Getenv func(string) string // empty: not set
	Now    func() time.Time
	Lab    Lab
}

// Lab is what tests and demonstrations replace. The zero value is tare itself.
type Lab struct {
	Kinds     map[string]lab.Kind                                                  // nil: kinds.All()
	Sources   func(Workshop) (lab.Sources, error)                                  // nil: the catalog, built with the go command
	Run       func(context.Context, tare.Study, lab.Options) (*tare.Result, error) // nil: lab.Run
	Studies   fs.FS                                                                // bundled studies, *.yaml at the top; nil: studies.FS
	Facts     func(context.Context) tare.Machine                                   // nil: machine.Facts
	Guard     func(run string) (*trial.Guardian, error)                            // nil: a guardian process; a nil guardian guards nothing
	Interrupt func() (signals <-chan os.Signal, restore func())                    // nil: Ctrl-C and SIGTERM of this process
	Terminal  func(stream any) (columns int, ok bool)                              // nil: asks the stream
	Gate      gate.Bench                                                           // nil: builds both sides of a repository and weighs its benchmarks and studies
}
