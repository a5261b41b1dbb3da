// Command cgocopy generates Go types and the code that fills them from C structs,
// whose layout it learns from the user's own C compiler.
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
