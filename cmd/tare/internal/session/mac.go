package session

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
)

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
	mac := hmac.New(sha256.New, key)
	mac.Write(append([]byte{byte(len(purpose))}, purpose...))
	mac.Write(text)
	return hex.EncodeToString(mac.Sum(nil))
}
