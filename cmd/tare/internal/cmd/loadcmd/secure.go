package loadcmd

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"maps"
	"slices"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/loadstudy"
	"github.com/tarebench/tare/internal/whole"
	"github.com/tarebench/tare/load"
)

// handshakeKeep is one handshake for each connection.
const handshakeKeep = "keep"

func handshakes() []string { return []string{handshakeKeep, string(load.Full), string(load.Resume)} }

// mostPEM is how many bytes a file of certificates may have.
const mostPEM = 1 << 20

func versionsOfTLS() map[string]uint16 {
	return map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13}
}

// trust reads the flags about TLS.
func (w *words) trust() (loadstudy.Trust, error) {
	t := loadstudy.Trust{Insecure: w.insecure, Version: versionsOfTLS()[w.tls]}
	switch {
	case !slices.Contains(handshakes(), w.handshake):
		return t, cmdenv.Usage(fmt.Sprintf("--handshake %q is none", w.handshake), "keep, full or resume")
	case w.handshake != handshakeKeep && w.keepAlive:
		return t, cmdenv.Usage("--keep-alive and --handshake "+w.handshake+" contradict each other", "give one of them")
	case w.tls != "" && t.Version == 0:
		return t, cmdenv.Usage(fmt.Sprintf("--tls %q is no version", w.tls), fmt.Sprint(slices.Sorted(maps.Keys(versionsOfTLS()))))
	case w.cacert == "":
		return t, nil
	case w.insecure:
		return t, cmdenv.Usage("--cacert and --insecure contradict each other", "give one of them")
	}
	src, err := whole.ReadStart(w.cacert, mostPEM)
	if err != nil {
		return t, cmdenv.Usage(fmt.Sprintf("--cacert %s: %v", w.cacert, cmdenv.Cause(err)), "")
	}
	if len(src) > mostPEM {
		return t, cmdenv.Usage(fmt.Sprintf("--cacert %s is larger than %d MiB", w.cacert, mostPEM>>20), "name a file with one or more certificates in PEM")
	}
	t.PEM, t.Roots = src, x509.NewCertPool()
	if !t.Roots.AppendCertsFromPEM(src) {
		return t, cmdenv.Usage(fmt.Sprintf("--cacert %s holds no certificate", w.cacert), "one or more, in PEM: -----BEGIN CERTIFICATE-----")
	}
	return t, nil
}

// handshakeMode is how the load generator shakes hands.
func (w *words) handshakeMode() load.Handshake {
	if w.handshake == handshakeKeep {
		return load.KeepAlive
	}
	return load.Handshake(w.handshake)
}
