package postgrestest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	embedded "github.com/fergusstrange/embedded-postgres"
)

// findPrograms returns a directory with the programs of PostgreSQL. If none is installed, it downloads them.
func findPrograms(ctx context.Context) (string, error) {
	if dir, ok := findInstalled(os.Getenv("PATH"), "/usr/lib/postgresql/*/bin"); ok {
		return dir, nil
	}
	dir, err := downloadPrograms(ctx)
	if err != nil {
		return "", fmt.Errorf("postgres and initdb are neither on PATH nor in /usr/lib/postgresql/*/bin, and cannot be downloaded: %w", err)
	}
	return dir, nil
}

// findInstalled searches for the programs in the directories of path, a value of PATH. Then it searches those
// that match pattern, the highest version first.
func findInstalled(path, pattern string) (string, bool) {
	dirs := filepath.SplitList(path)
	versions, _ := filepath.Glob(pattern) // a malformed pattern matches nothing
	slices.SortFunc(versions, func(a, b string) int { return majorVersion(b) - majorVersion(a) })
	for _, dir := range append(dirs, versions...) {
		if filepath.IsAbs(dir) && hasPrograms(dir) {
			return dir, true
		}
	}
	return "", false
}

// majorVersion returns the version in the path of a directory: 15 for /usr/lib/postgresql/15/bin. 0 means
// unknown.
func majorVersion(dir string) int {
	n, _ := strconv.Atoi(strings.SplitN(filepath.Base(filepath.Dir(dir)), ".", 2)[0])
	return n
}

func hasPrograms(dir string) bool {
	for _, name := range []string{"postgres", "initdb"} {
		if _, err := exec.LookPath(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// downloadPrograms downloads the programs, if an earlier call has not, and returns their directory.
func downloadPrograms(ctx context.Context) (string, error) {
	const version = embedded.V18
	base, err := cacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(base, "postgresql-"+string(version))
	bin := filepath.Join(dir, "bin")
	if hasPrograms(bin) {
		return bin, nil
	}
	if err := os.MkdirAll(base, 0o755); err != nil {
		return "", err
	}
	work, err := os.MkdirTemp(base, "download-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	// The library downloads only when it starts a server. It accepts a data directory with only a version, but
	// the server fails.
	data := filepath.Join(work, "data")
	major, _, _ := strings.Cut(string(version), ".")
	if err := os.Mkdir(data, 0o700); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(data, "PG_VERSION"), []byte(major), 0o600); err != nil {
		return "", err
	}
	port, err := freePort()
	if err != nil {
		return "", err
	}
	programs := filepath.Join(work, "programs")
	server := embedded.NewDatabase(embedded.DefaultConfig().Version(version).Port(uint32(port)).Logger(io.Discard).
		CachePath(work).RuntimePath(filepath.Join(work, "runtime")).DataPath(data).BinariesPath(programs))
	ended := make(chan error, 1)
	go func() { ended <- server.Start() }() // Start has no context, so wait for either
	select {
	case err = <-ended:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if err == nil {
		return "", errors.Join(errors.New("a server started on no data"), server.Stop())
	}
	if !hasPrograms(filepath.Join(programs, "bin")) {
		return "", err
	}
	if err := os.Rename(programs, dir); err != nil && !hasPrograms(bin) { // another program may have renamed its download
		return "", err
	}
	return bin, nil
}

// cacheDir returns the directory of downloads. Another user than root runs the server and could not read
// root's cache.
func cacheDir() (string, error) {
	if os.Geteuid() == 0 {
		return "/var/cache/tare", nil
	}
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "tare"), err
}
