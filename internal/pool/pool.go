// Package pool writes the inputs of a workload into the file that a contender (a program under test)
// reads.
package pool

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/wire"
)

// Write writes bodies, which must not contain a line end, into a file of dir, one per line. The name of
// the file is prefix and a hash of its content. Of the returned workload, only Input (the path of the
// file), Bodies and SHA256 are set.
func Write(dir, prefix string, bodies [][]byte, mode fs.FileMode) (wire.Workload, error) {
	content := fixture.File(bodies)
	sum := sha256.Sum256(content)
	hash := hex.EncodeToString(sum[:])
	path := filepath.Join(dir, prefix+hash[:12]+".ndjson")
	if err := os.WriteFile(path, content, mode); err != nil {
		return wire.Workload{}, err
	}
	return wire.Workload{Input: path, Bodies: len(bodies), SHA256: hash}, nil
}
