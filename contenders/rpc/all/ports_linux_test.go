package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPorts checks that a standalone program listens only at the addresses that it
// prints, one per transport: another port would not require the token.
func TestPorts(t *testing.T) {
	pid, out := startAlone(t)
	tries := 0
	for lines := bufio.NewScanner(out); tries < len(listTransports()) && lines.Scan(); {
		if strings.Contains(lines.Text(), ": try: ") {
			tries++
		}
	}
	if n := countListening(t, pid); n != len(listTransports()) {
		t.Errorf("it listens at %d addresses, and has %d faces", n, len(listTransports()))
	}
}

// countListening returns the number of TCP and Unix sockets on which process pid
// listens.
func countListening(t *testing.T, pid int) (n int) {
	t.Helper()
	inodes := map[string]bool{} // of the sockets of the process
	fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		name, _ := os.Readlink(fd)
		if inode, ok := strings.CutPrefix(name, "socket:["); ok {
			inodes[strings.TrimSuffix(inode, "]")] = true
		}
	}
	for table, columns := range map[string]struct {
		state, inode int    // numbers of columns
		listening    string // value of the column state
	}{
		"tcp":  {3, 9, "0A"},
		"tcp6": {3, 9, "0A"},
		"unix": {5, 6, "01"},
	} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		if err != nil {
			continue // no IPv6
		}
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			if len(f) > columns.inode && f[columns.state] == columns.listening && inodes[f[columns.inode]] {
				n++
			}
		}
	}
	return n
}
