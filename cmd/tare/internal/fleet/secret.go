package fleet

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"time"

	"github.com/tarebench/tare/internal/atomicfile"
)

// Secrets has the coordinator's certificate and the tokens with which agents may join.
type Secrets struct {
	Cert        tls.Certificate
	Fingerprint string // SHA-256 of the certificate

	tokens string // one file per agent
}

// certificateLifetime is long because agents compare only the fingerprint.
const certificateLifetime = 10 * 365 * 24 * time.Hour

// ReadSecrets reads the certificate in dir. It creates dir and the certificate if they are missing.
func ReadSecrets(dir string) (Secrets, error) {
	s := Secrets{tokens: filepath.Join(dir, "tokens")}
	if err := atomicfile.MakeDir(dir, 0o700); err != nil {
		return s, fmt.Errorf("make the fleet's directory: %w", err)
	}
	pair := filepath.Join(dir, "certificate.pem")
	text, err := os.ReadFile(pair)
	if errors.Is(err, os.ErrNotExist) {
		if text, err = newCertificate(); err == nil {
			err = atomicfile.Write(atomicfile.System{}, pair, text, 0o600)
		}
	}
	if err != nil {
		return s, fmt.Errorf("read the fleet's certificate: %w", err)
	}
	if s.Cert, err = tls.X509KeyPair(text, text); err != nil {
		return s, fmt.Errorf("%s: %w", pair, err)
	}
	s.Fingerprint = Fingerprint(s.Cert.Certificate[0])
	return s, nil
}

// TokenFile returns the path of an agent's token.
func (s Secrets) TokenFile(name string) string { return filepath.Join(s.tokens, name) }

// Token returns the token of an agent, or "" if it is missing or invalid.
func (s Secrets) Token(name string) string {
	if CheckName(name) != nil {
		return ""
	}
	token, err := ReadToken(s.TokenFile(name))
	if err != nil {
		return ""
	}
	return token
}

// MakeToken creates the token of a name if it is missing.
func (s Secrets) MakeToken(name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if err := atomicfile.MakeDir(s.tokens, 0o700); err != nil {
		return fmt.Errorf("make the directory of tokens: %w", err)
	}
	_, err := ReadToken(s.TokenFile(name))
	if errors.Is(err, os.ErrNotExist) {
		err = atomicfile.Write(atomicfile.System{}, s.TokenFile(name), []byte(rand.Text()+"\n"), 0o600)
	}
	return err
}

const (
	minToken = 16
	maxToken = 1000
)

// ReadToken reads a file with a token: one word and, optionally, an end of line.
func ReadToken(path string) (string, error) {
	text, err := atomicfile.ReadStart(path, maxToken+2) // 2 for \r\n
	if err != nil {
		return "", err
	}
	token := string(bytes.TrimSpace(text))
	hasSize := len(text) <= maxToken+2 && minToken <= len(token) && len(token) <= maxToken
	if isWord := !bytes.ContainsAny([]byte(token), " \t\r\n"); !hasSize || !isWord {
		return "", fmt.Errorf("%s: a token is one word of %d to %d bytes", path, minToken, maxToken)
	}
	return token, nil
}

func newCertificate() ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "tare"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(certificateLifetime),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})...), nil
}
