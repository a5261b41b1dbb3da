// Command cgocopy writes Go types and the code that fills them from C structs,
// after the layout that the user's own C compiler gives them.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/tarebench/tare/cgocopy/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code := cli.Main(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
