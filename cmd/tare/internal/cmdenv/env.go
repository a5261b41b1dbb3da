// Package cmdenv is what commands of tare work with: streams, directories,
// studies, results and contenders, flags, and errors with their exit codes.
package cmdenv

import (
	"context"
	"io"
	"io/fs"
	"os"
	"strconv"
	"time"

	"github.com/tarebench/tare"
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

	Ordered bool // by a coordinator, which keeps the result: nobody reads pages of it here
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
	Terminal  func(stream any) (columns, rows int, ok bool)                        // nil: asks the stream
}

// Tag names this run in the environment of everything it starts.
func (env Env) Tag() string {
	return "tare-" + strconv.Itoa(os.Getpid()) + "-" + strconv.FormatInt(env.Now().UnixNano(), 36)
}

// Workshop is what sources need to know to make contenders.
type Workshop struct {
	Cache     string   // directory for what was built
	Catalog   string   // directory of contenders, as [Env.CatalogDir] has it; empty: looked for
	With      []string // modules to build every contender with that requires them: path@version, or path=/abs/dir
	Go        string   // toolchain to build every contender with, e.g. go1.25.5; empty: the machine's
	Run       string   // tag of every process that is started
	Compiling func()   // called when a compiler starts; may be nil
}
