// Command pack writes the archive that is embedded in the tare binary. The archive has the sources
// of the contenders (the programs that tare compares) and of the SDK that they import. make install
// runs it first.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/tarebench/tare/cmd/tare/internal/catalog/archive"
)

func main() {
	root := flag.String("root", ".", "root `directory` of the repository")
	out := flag.String("o", "catalog.txt", "`file` to write")
	flag.Parse()
	if err := writeArchive(*root, *out); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func writeArchive(root, out string) error {
	files, err := archive.Collect(root)
	if err != nil {
		return err
	}
	return os.WriteFile(out, archive.Format(files), 0o644)
}
