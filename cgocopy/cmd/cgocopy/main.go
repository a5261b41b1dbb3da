// Command cgocopy generates Go types, and code that fills them from C structs. It learns the layout of the
// structs from the user's C compiler.
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
