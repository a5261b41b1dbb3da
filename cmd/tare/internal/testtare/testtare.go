// Package testtare lets a test binary run as the command tare, so that tests need not build the
// command. It also gives all tests one cache of contenders, the compared programs that tare builds.
package testtare

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Main must be called by TestMain of each package that calls Program. If go test started the process,
// Main runs the tests, else it runs tare. It decides by the name of the process, because tare starts
// itself again with another environment, and sends copies of itself to other machines under other
// names. Main and tare return the exit code.
func Main(m *testing.M, tare func() int) int {
	if !isTest(os.Args) {
		if os.Getenv("TARE_COUNTS") == "" { // tests of counting set it
			_ = os.Setenv("TARE_COUNTS", "off")
		}
		return tare()
	}
	flag.Parse()
	// Tests wait for programs more than they compute.
	if tests := flag.Lookup("test.parallel"); tests.Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
		_ = tests.Value.Set(strconv.Itoa(2 * runtime.GOMAXPROCS(0)))
	}
	if dir := flag.Lookup("test.gocoverdir"); dir != nil && dir.Value.String() != "" && os.Getenv("GOCOVERDIR") == "" {
		_ = os.Setenv("GOCOVERDIR", dir.Value.String()) // so that coverage includes child processes
	}
	return m.Run()
}

// isTest reports whether go test started the process with the arguments args, its name first.
func isTest(args []string) bool {
	name := strings.TrimSuffix(filepath.Base(args[0]), ".exe")
	return strings.HasSuffix(name, ".test") || len(args) > 1 && strings.HasPrefix(args[1], "-test.")
}

// Program returns the path of a program named tare: the test binary under another name, in a temporary
// directory of the test. TestMain of the package must call Main.
func Program(t testing.TB) string {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "tare"+filepath.Ext(strings.TrimSuffix(binary, ".test")))
	if os.Link(binary, path) == nil { // not a symbolic link: the process would have the binary's name
		return path
	}
	if err := copyFile(binary, path); err != nil {
		t.Fatal(err)
	}
	return path
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o700)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		_ = out.Close()
		return err
	}
	return out.Close()
}

// Cache returns a directory for TARE_CACHE, for tests that do not test the cache itself. All packages
// and later runs may share it concurrently, because tare finds a build by its content. It returns the
// value of TARE_CACHE if that is set.
func Cache(t testing.TB) string {
	t.Helper()
	dir, err := sharedCache()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// sharedCache returns the cache of the test binary, and always the same one.
var sharedCache = sync.OnceValues(func() (string, error) {
	if dir := os.Getenv("TARE_CACHE"); dir != "" {
		return dir, nil
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a directory for the cache of tests: %w", err)
	}
	return openCache(filepath.Join(base, "tare-test"), time.Now())
})

// openCache creates the cache of the current day below base, and removes the caches of days before
// yesterday. A test binary that started yesterday can still use the cache of that day.
func openCache(base string, now time.Time) (string, error) {
	dir := filepath.Join(base, now.Format(time.DateOnly))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the cache of tests: %w", err)
	}
	entries, err := os.ReadDir(base)
	if err != nil {
		return "", fmt.Errorf("read the caches of tests: %w", err)
	}
	for _, e := range entries {
		if day, err := time.ParseInLocation(time.DateOnly, e.Name(), now.Location()); err == nil && now.Sub(day) > 48*time.Hour {
			_ = os.RemoveAll(filepath.Join(base, e.Name())) // fails if another test binary is removing it
		}
	}
	return dir, nil
}
