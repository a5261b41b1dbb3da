package session

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/report"
)

// A result contains commands and modules that tare rerun runs or builds. A seal, a MAC (a keyed hash) over
// them, shows that this data directory made the result. Only the owner can read the key. A process that can
// read it can run commands anyway.

// KeyName is the name of the key file in the data directory.
const KeyName = "key"

// sealedFields decide what tare rerun runs.
type sealedFields struct {
	Study, Budget, Seed, Isolation string
	Procs                          int
	Env                            []string
	Asked                          tare.Asked
	Contenders                     []sealedContender
}

type sealedContender struct {
	ID, Version, Go string
	Modules         []tare.Module
}

// computeMAC returns the MAC of a result's sealed fields. r must have been read from its document, because nil
// and empty lists in memory give another MAC.
func computeMAC(key []byte, r *tare.Result) (string, error) {
	fields := sealedFields{
		Study: r.Study, Budget: r.Budget, Seed: r.Seed, Isolation: string(r.Plan.Isolation),
		Procs: r.Procs, Env: r.Env, Asked: r.Asked,
	}
	fields.Asked.Seal = "" // the MAC cannot cover itself
	for _, c := range r.Contenders {
		fields.Contenders = append(fields.Contenders, sealedContender{c.ID, c.Version, c.Go, c.Modules})
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return "", err
	}
	return hexMAC(key, text), nil
}

func hexMAC(key, text []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write(text)
	return hex.EncodeToString(mac.Sum(nil))
}

// sealResult sets Asked.Seal, the MAC of the result as a reader of its document sees it.
func sealResult(d cmdenv.Dirs, res *tare.Result) error {
	key, err := ensureKey(d)
	if err != nil {
		return err
	}
	var doc bytes.Buffer
	if err := report.JSON(&doc, res); err != nil {
		return err
	}
	read, err := history.Parse(history.ResultName, doc.Bytes())
	if err != nil {
		return err
	}
	res.Asked.Seal, err = computeMAC(key, read[0])
	return err
}

// IsMadeHere reports whether this data directory made the result, and its sealed fields are unchanged. dir is
// the directory of the result. A result imported into dir was made elsewhere.
func IsMadeHere(d cmdenv.Dirs, res *tare.Result, dir string) (bool, error) {
	if res.Asked.Seal == "" {
		return false, nil
	}
	if imported, err := history.IsImported(dir); imported || err != nil {
		return false, err
	}
	key, err := readKey(d)
	if key == nil || err != nil {
		return false, err
	}
	want, err := computeMAC(key, res)
	return err == nil && hmac.Equal([]byte(want), []byte(res.Asked.Seal)), err
}

const keySize = 32

// readKey reads the key of the data directory, or returns nil if there is none.
func readKey(d cmdenv.Dirs) ([]byte, error) {
	path := filepath.Join(d.Data, KeyName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the key of the data directory: %w", err)
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != keySize {
		return nil, fmt.Errorf("%s is damaged; remove it, and what was measured before needs tare rerun --trust", path)
	}
	return key, nil
}

func ensureKey(d cmdenv.Dirs) ([]byte, error) {
	key, err := readKey(d)
	if key != nil || err != nil {
		return key, err
	}
	if err := makeKey(d); err != nil {
		return nil, fmt.Errorf("make the key of the data directory: %w", err)
	}
	key, err = readKey(d)
	if key == nil && err == nil { // another process has removed it
		err = fmt.Errorf("read the key of the data directory: %w", fs.ErrNotExist)
	}
	return key, err
}

// makeKey writes a new key, readable only by the owner. A key that another process has just written stays.
func makeKey(d cmdenv.Dirs) error {
	if err := d.MakeData(); err != nil {
		return err
	}
	key := make([]byte, keySize)
	_, _ = rand.Read(key) // never fails
	err := atomicfile.WriteNew(atomicfile.System{}, filepath.Join(d.Data, KeyName), fmt.Appendf(nil, "%x\n", key), 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// MAC returns the MAC of a text for a purpose, with the key of the data directory. It makes the key if the
// directory has none.
func MAC(d cmdenv.Dirs, purpose string, text []byte) (string, error) {
	key, err := ensureKey(d)
	if err != nil {
		return "", err
	}
	return computeTextMAC(key, purpose, text), nil
}

// HasMAC reports whether mac is the MAC of the text for a purpose. It returns false if the directory has no
// key.
func HasMAC(d cmdenv.Dirs, purpose string, text []byte, mac string) (bool, error) {
	key, err := readKey(d)
	if key == nil || err != nil {
		return false, err
	}
	return hmac.Equal([]byte(computeTextMAC(key, purpose, text)), []byte(mac)), nil
}

// computeTextMAC writes the length of the purpose first, so that no other purpose and text give the same
// bytes.
func computeTextMAC(key []byte, purpose string, text []byte) string {
	return hexMAC(key, slices.Concat([]byte{byte(len(purpose))}, []byte(purpose), text))
}
