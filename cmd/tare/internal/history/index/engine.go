package index

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ncruces/go-sqlite3"
	_ "github.com/ncruces/go-sqlite3/embed" // SQLite, compiled to WebAssembly
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/tarebench/tare/internal/format"
)

// CodeDir is the directory in the cache for the machine code of SQLite, which is compiled from
// WebAssembly. Compiling it takes more than a second, reading it a tenth of a second.
const CodeDir = "sqlite"

// maxPages limits the memory of SQLite, in pages of 64 KiB.
const maxPages = 4096

func startEngine(cache string) error {
	if sqlite3.RuntimeConfig != nil {
		return nil
	}
	config := wazero.NewRuntimeConfig().WithMemoryLimitPages(maxPages).WithCoreFeatures(api.CoreFeaturesV2)
	if dir := filepath.Join(cache, CodeDir); isDir(cache) {
		if compiled, err := wazero.NewCompilationCacheWithDir(dir); err == nil { // on error SQLite is compiled every time
			config = config.WithCompilationCache(compiled)
		}
	}
	sqlite3.RuntimeConfig = config
	if err := sqlite3.Initialize(); err != nil {
		return fmt.Errorf("start SQLite: %s; tare clean --cache removes its files", format.Line(err.Error(), 0))
	}
	return nil
}

func isDir(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}
