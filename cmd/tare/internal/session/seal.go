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

// A result contains commands, programs and modules that tare rerun runs or builds with. It therefore
// has a MAC over these fields, which shows that this data directory made the result. The key is in a
// file that only the owner can read: a process that can read it can run commands as the owner anyway.

// KeyName is the name of the key file in the data directory.
const KeyName = "key"

// sealedFields contains the fields of a result that decide what tare rerun runs.
type sealedFields struct {
	Study, Budget, Seed, Isolation string
	Procs                          int
	Env                            []string
	Asked                          tare.Asked
	Contenders                     []sealedContender
}

// sealedContender contains the fields of a contender that decide from which sources it is built.
type sealedContender struct {
	ID, Version, Go string
	Modules         []tare.Module
}

// computeMAC returns the MAC of a result's sealed fields. The result must have been read from its
// document: a result in memory may differ in details such as nil and empty lists.
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

// hexMAC returns the HMAC-SHA-256 of a text in hexadecimal.
func hexMAC(key, text []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write(text)
	return hex.EncodeToString(mac.Sum(nil))
}

// sealResult sets Asked.Seal, the MAC of the result as a reader of its document will see it.
func sealResult(d cmdenv.Dirs, res *tare.Result) error {
	key, err := readKey(d, createKey)
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

// IsMadeHere reports whether this data directory made a result, and the sealed fields have not been
// changed since. It returns false for a result that was imported into dir, the directory that it was
// read from.
func IsMadeHere(d cmdenv.Dirs, res *tare.Result, dir string) (bool, error) {
	if res.Asked.Seal == "" {
		return false, nil
	}
	if imported, err := history.IsImported(dir); imported || err != nil {
		return false, err
	}
	key, err := readKey(d, onlyReadKey)
	if key == nil || err != nil {
		return false, err
	}
	want, err := computeMAC(key, res)
	return err == nil && hmac.Equal([]byte(want), []byte(res.Asked.Seal)), err
}

// Values of readKey's argument create.
const (
	createKey   = true
	onlyReadKey = false
)

// readKey reads the key of the data directory. If there is no key it creates one if create is set,
// and otherwise returns nil.
func readKey(d cmdenv.Dirs, create bool) ([]byte, error) {
	const size = 32
	path := filepath.Join(d.Data, KeyName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if !create {
			return nil, nil
		}
		if err := makeKey(d, path, size); err != nil {
			return nil, fmt.Errorf("make the key of the data directory: %w", err)
		}
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, fmt.Errorf("read the key of the data directory: %w", err)
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != size {
		return nil, fmt.Errorf("%s is damaged; remove it, and what was measured before needs tare rerun --trust", path)
	}
	return key, nil
}

// makeKey writes a new key of size bytes atomically, readable only by the owner. If another process has
// written a key in the meantime, that key stays.
func makeKey(d cmdenv.Dirs, path string, size int) error {
	if err := d.MakeData(); err != nil {
		return err
	}
	key := make([]byte, size)
	_, _ = rand.Read(key) // never fails
	err := atomicfile.WriteNew(atomicfile.System{}, path, fmt.Appendf(nil, "%x\n", key), 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// MAC returns the MAC of a text for a purpose, with the key of the data directory. It makes the key if
// the directory has none.
func MAC(d cmdenv.Dirs, purpose string, text []byte) (string, error) {
	key, err := readKey(d, createKey)
	if err != nil {
		return "", err
	}
	return computeTextMAC(key, purpose, text), nil
}

// HasMAC reports whether mac is the MAC of the text for a purpose, with the key of the data directory.
// It returns false if the directory has no key.
func HasMAC(d cmdenv.Dirs, purpose string, text []byte, mac string) (bool, error) {
	key, err := readKey(d, onlyReadKey)
	if key == nil || err != nil {
		return false, err
	}
	return hmac.Equal([]byte(computeTextMAC(key, purpose, text)), []byte(mac)), nil
}

// computeTextMAC returns the MAC of purpose and text. The length of the purpose comes first, so that no
// other pair of purpose and text has the same bytes.
func computeTextMAC(key []byte, purpose string, text []byte) string {
	return hexMAC(key, slices.Concat([]byte{byte(len(purpose))}, []byte(purpose), text))
}
