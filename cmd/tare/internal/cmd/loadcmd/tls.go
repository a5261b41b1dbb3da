package loadcmd

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"maps"
	"slices"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/loadstudy"
	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/load"
)

// handshakeKeep is the value of --handshake that makes one handshake for each connection.
const handshakeKeep = "keep"

func handshakeModes() []string {
	return []string{handshakeKeep, string(load.Full), string(load.Resume)}
}

const maxPEM = 1 << 20 // bytes

// versionsOfTLS returns the numbers of TLS versions by the values of --tls.
func versionsOfTLS() map[string]uint16 {
	return map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13}
}

func (o *options) readTrust() (loadstudy.Trust, error) {
	t := loadstudy.Trust{Insecure: o.insecure, Version: versionsOfTLS()[o.tls]}
	switch {
	case !slices.Contains(handshakeModes(), o.handshake):
		return t, cmdenv.Usage(fmt.Sprintf("--handshake %q is none", o.handshake), "keep, full or resume")
	case o.handshake != handshakeKeep && o.keepAlive:
		return t, cmdenv.Usage("--keep-alive and --handshake "+o.handshake+" contradict each other", "give one of them")
	case o.tls != "" && t.Version == 0:
		return t, cmdenv.Usage(fmt.Sprintf("--tls %q is no version", o.tls), fmt.Sprint(slices.Sorted(maps.Keys(versionsOfTLS()))))
	case o.cacert == "":
		return t, nil
	case o.insecure:
		return t, cmdenv.Usage("--cacert and --insecure contradict each other", "give one of them")
	}
	src, err := atomicfile.ReadStart(o.cacert, maxPEM)
	if err != nil {
		return t, cmdenv.Usage(fmt.Sprintf("--cacert %s: %v", o.cacert, cmdenv.Cause(err)), "")
	}
	if len(src) > maxPEM {
		return t, cmdenv.Usage(fmt.Sprintf("--cacert %s is larger than %d MiB", o.cacert, maxPEM>>20), "name a file with one or more certificates in PEM")
	}
	t.PEM, t.Roots = src, x509.NewCertPool()
	if !t.Roots.AppendCertsFromPEM(src) {
		return t, cmdenv.Usage(fmt.Sprintf("--cacert %s holds no certificate", o.cacert), "one or more, in PEM: -----BEGIN CERTIFICATE-----")
	}
	return t, nil
}

func (o *options) handshakeMode() load.Handshake {
	if o.handshake == handshakeKeep {
		return load.KeepAlive
	}
	return load.Handshake(o.handshake)
}
