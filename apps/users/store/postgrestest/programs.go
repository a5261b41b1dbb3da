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

// find is the directory of PostgreSQL's programs.
func find(ctx context.Context) (string, error) {
	if dir, ok := installed(os.Getenv("PATH"), "/usr/lib/postgresql/*/bin"); ok {
		return dir, nil
	}
	dir, err := download(ctx)
	if err != nil {
		return "", fmt.Errorf("postgres and initdb are neither on PATH nor in /usr/lib/postgresql/*/bin, and cannot be downloaded: %w", err)
	}
	return dir, nil
}

// installed looks through a PATH, and then through what the pattern matches, the
// highest version first.
func installed(path, pattern string) (string, bool) {
	places := filepath.SplitList(path)
	versions, _ := filepath.Glob(pattern) // a wrong pattern matches nothing
	slices.SortFunc(versions, func(a, b string) int { return version(b) - version(a) })
	for _, dir := range append(places, versions...) {
		if filepath.IsAbs(dir) && complete(dir) {
			return dir, true
		}
	}
	return "", false
}

// version is 15 of /usr/lib/postgresql/15/bin.
func version(dir string) int {
	n, _ := strconv.Atoi(strings.SplitN(filepath.Base(filepath.Dir(dir)), ".", 2)[0])
	return n
}

// complete reports whether dir has what is needed.
func complete(dir string) bool {
	for _, name := range []string{"postgres", "initdb"} {
		if _, err := exec.LookPath(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// download fetches the programs, once, and returns where they are kept.
func download(ctx context.Context) (string, error) {
	const version = embedded.V18
	base, err := cache()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(base, "postgresql-"+string(version))
	bin := filepath.Join(dir, "bin")
	if complete(bin) {
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
	// The library fetches as a part of starting a server. It is given data of its
	// version that no server would start on.
	data := filepath.Join(work, "data")
	major, _, _ := strings.Cut(string(version), ".")
	if err := os.Mkdir(data, 0o700); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(data, "PG_VERSION"), []byte(major), 0o600); err != nil {
		return "", err
	}
	port, err := free()
	if err != nil {
		return "", err
	}
	programs := filepath.Join(work, "programs")
	server := embedded.NewDatabase(embedded.DefaultConfig().Version(version).Port(uint32(port)).Logger(io.Discard).
		CachePath(work).RuntimePath(filepath.Join(work, "runtime")).DataPath(data).BinariesPath(programs))
	ended := make(chan error, 1)
	go func() { ended <- server.Start() }() // it knows of no context
	select {
	case err = <-ended:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if err == nil {
		return "", errors.Join(errors.New("a server started on no data"), server.Stop())
	}
	if !complete(filepath.Join(programs, "bin")) {
		return "", err
	}
	if err := os.Rename(programs, dir); err != nil && !complete(bin) { // another program was faster
		return "", err
	}
	return bin, nil
}

// cache is where downloads are kept. Root's own would be closed to the user whom
// the server runs as.
func cache() (string, error) {
	if os.Geteuid() == 0 {
		return "/var/cache/tare", nil
	}
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "tare"), err
}
