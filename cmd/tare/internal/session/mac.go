package session

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
)

// MAC returns the MAC of a text for a purpose, with the key of the data directory. It
// makes the key if there is none.
func MAC(d cmdenv.Dirs, purpose string, text []byte) (string, error) {
	key, err := readKey(d, true)
	if err != nil {
		return "", err
	}
	return macOf(key, purpose, text), nil
}

// HasMAC reports whether mac is that of the text, by the key of the data directory. It
// makes no key.
func HasMAC(d cmdenv.Dirs, purpose string, text []byte, mac string) (bool, error) {
	key, err := readKey(d, false)
	if key == nil || err != nil {
		return false, err
	}
	return hmac.Equal([]byte(macOf(key, purpose, text)), []byte(mac)), nil
}

// macOf includes the length of the purpose, so that no purpose begins another's text.
func macOf(key []byte, purpose string, text []byte) string {
	h := hmac.New(sha256.New, key)
	h.Write(append([]byte{byte(len(purpose))}, purpose...))
	h.Write(text)
	return hex.EncodeToString(h.Sum(nil))
}
