// Package testtare lets a test binary run as tare, so that tests need not build
// the command, and gives all tests one cache of built contenders.
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

// Main is the TestMain of a package that calls Program. A process that go test
// started runs the tests, and any other one is tare: its name decides, because
// tare starts itself again with another environment, and sends copies of itself to
// other machines under other names. Main returns the exit code, and tare too.
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
		_ = os.Setenv("GOCOVERDIR", dir.Value.String()) // what child processes execute is counted, too
	}
	return m.Run()
}

// isTest reports whether go test started the process of args.
func isTest(args []string) bool {
	name := strings.TrimSuffix(filepath.Base(args[0]), ".exe")
	return strings.HasSuffix(name, ".test") || len(args) > 1 && strings.HasPrefix(args[1], "-test.")
}

// Program returns the path of a program named tare: the test binary under another
// name, in a directory of the test's own. The package needs Main.
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

// Cache returns the directory for TARE_CACHE of tests whose subject is not the
// cache itself. All packages and later runs share it, concurrently, because tare
// finds a build by what is in it. It is the value of TARE_CACHE if that is set.
func Cache(t testing.TB) string {
	t.Helper()
	dir, err := cache()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

var cache = sync.OnceValues(func() (string, error) {
	if dir := os.Getenv("TARE_CACHE"); dir != "" {
		return dir, nil
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a directory for the cache of tests: %w", err)
	}
	return openCache(filepath.Join(base, "tare-test"), time.Now())
})

// openCache makes the cache of now's day below base and removes those of the days
// before yesterday. Nothing is removed from a cache while it is in use: a test binary
// that started yesterday keeps the cache of that day.
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
			_ = os.RemoveAll(filepath.Join(base, e.Name())) // or another test binary is removing it
		}
	}
	return dir, nil
}
