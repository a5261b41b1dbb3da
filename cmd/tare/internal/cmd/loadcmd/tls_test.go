package loadcmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCertificatesAreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ca.pem")
	for size, want := range map[int]string{maxPEM: "holds no certificate", maxPEM + 1: "is larger than 1 MiB"} {
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
		o := options{cacert: path, handshake: handshakeKeep}
		if _, err := o.readTrust(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d bytes: %v, want %q", size, err, want)
		}
	}
}
