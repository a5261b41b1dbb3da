// Package cmdenv has what all commands of tare share. This is the environment of a call, its
// directories, studies and results, common flags, and errors with their exit codes.
package cmdenv

//go:generate go test . -run TestExitTableIsCurrent -update

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

// Env is the environment of one call of tare.
type Env struct {
	In     io.Reader
	Out    io.Writer           // results: tables or JSON
	Err    io.Writer           // progress and errors
	Args   []string            // without the program's name
	Getenv func(string) string // returns "" for a variable that is not set
	Now    func() time.Time
	Lab    Lab

	Ordered bool // called for a coordinator on another machine, which stores the result
}

// Lab contains the parts of tare that tests and demonstrations replace. A nil field means tare's own
// part.
type Lab struct {
	Kinds     map[string]lab.Kind                                                  // nil means kinds.All()
	Sources   func(Workshop) (lab.Sources, error)                                  // nil means the catalog, built with the go command
	Run       func(context.Context, tare.Study, lab.Options) (*tare.Result, error) // nil means lab.Run
	Studies   fs.FS                                                                // bundled studies, *.yaml at the top; nil means studies.FS
	Facts     func(context.Context) tare.Machine                                   // nil means machine.Facts
	Guard     func(run string) (*trial.Guardian, error)                            // nil means a guardian process; a nil guardian does nothing
	Interrupt func() (signals <-chan os.Signal, restore func())                    // nil means Ctrl-C and SIGTERM of this process
	Terminal  func(stream any) (columns, rows int, ok bool)                        // nil means the function Terminal
}

// Tag returns an id of this run. It is put into the environment of child processes, so that tare can
// find them.
func (env Env) Tag() string {
	return "tare-" + strconv.Itoa(os.Getpid()) + "-" + strconv.FormatInt(env.Now().UnixNano(), 36)
}

// CancelOnSignal returns a context that ends with cause when the user interrupts this process. A second
// signal then kills the process. With the returned env, functions get no signals: they must end with
// the context.
func (env Env) CancelOnSignal(ctx context.Context, cause error) (_ context.Context, _ Env, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals, restore := env.Lab.Interrupt()
	go func() {
		select {
		case <-signals:
			restore()
			cancel(cause)
		case <-ctx.Done():
		}
	}()
	env.Lab.Interrupt = func() (<-chan os.Signal, func()) { return nil, func() {} }
	return ctx, env, func() { cancel(nil); restore() }
}

// Workshop configures the builds of contenders, the programs under test.
type Workshop struct {
	Cache     string   // directory of builds
	Catalog   string   // directory from [Env.CatalogDir]; "" means that it is searched for
	With      []string // versions of modules in all builds: path@version, or path=/abs/dir
	Go        string   // toolchain of all builds, e.g. go1.25.5; "" means the machine's
	Run       string   // tag of child processes
	Compiling func()   // called when a compiler starts; may be nil
}
