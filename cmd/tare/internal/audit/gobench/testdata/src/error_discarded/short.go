package error_discarded

import "errors"

var errShort = errors.New("too short")

type unpacker struct{ size int }

// unpackInto fails if dst is too short.
func unpackInto(dst []int, src []byte) (int, error) {
	if len(src) == 0 {
		return 0, errShort
	}
	n := int(src[0])
	if uint64(len(dst)) < uint64(n) {
		return 0, errShort
	}
	for i := range n {
		dst[i] = int(src[i])
	}
	return n, nil
}

func (u unpacker) hasRoom(dst []int) error {
	if u.size > len(dst) {
		return errShort
	}
	return nil
}

func (u unpacker) unpack(dst []int, src []byte) error {
	if err := u.hasRoom(dst); err != nil {
		return err
	}
	_, err := unpackInto(dst, src)
	return err
}

// unpackGrown makes dst longer.
func unpackGrown(dst []int, src []byte) error {
	dst = append(dst, make([]int, len(src))...)
	if len(dst) < len(src) {
		return errShort
	}
	return nil
}
