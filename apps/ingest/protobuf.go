package ingest

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
)

// Wire types of protocol buffers.
const (
	wireVarint = 0
	wireDouble = 1
	wireBytes  = 2
)

// EncodeProtobuf encodes a batch as message Batch of this proto3 schema. Fields that are zero are omitted.
//
//	message Batch { repeated Record records = 1; }
//	message Record { string id = 1; int64 timestamp_ms = 2; Metadata metadata = 3; }
//
// Metadata has the fields of the Go type [Metadata], numbered from 1. Servers decode with their own
// libraries; package ingest needs none to encode.
func EncodeProtobuf(list []Record) ([]byte, error) {
	var batch, record, metadata []byte
	for i := range list {
		var err error
		if metadata, err = appendFields(metadata[:0], list[i].Metadata); err != nil {
			return nil, err
		}
		record = appendText(record[:0], 1, list[i].ID)
		if ms := list[i].Timestamp.UnixMilli(); ms != 0 {
			record = binary.AppendUvarint(append(record, 2<<3|wireVarint), uint64(ms))
		}
		record = appendBytes(record, 3, metadata)
		batch = appendBytes(batch, 1, record)
	}
	return batch, nil
}

// appendFields appends the fields of a struct to dst, numbered from 1. A key is the number shifted by 3, or'ed
// with the wire type.
func appendFields(dst []byte, message any) ([]byte, error) {
	v := reflect.ValueOf(message)
	for i := range v.NumField() {
		number := uint64(i + 1)
		switch f := v.Field(i); f.Kind() {
		case reflect.String:
			dst = appendText(dst, number, f.String())
		case reflect.Int:
			if f.Int() != 0 {
				dst = binary.AppendUvarint(dst, number<<3|wireVarint)
				dst = binary.AppendUvarint(dst, uint64(f.Int()))
			}
		case reflect.Bool:
			if f.Bool() {
				dst = append(binary.AppendUvarint(dst, number<<3|wireVarint), 1)
			}
		case reflect.Float64:
			if bits := math.Float64bits(f.Float()); bits != 0 {
				dst = binary.AppendUvarint(dst, number<<3|wireDouble)
				dst = binary.LittleEndian.AppendUint64(dst, bits)
			}
		default:
			return nil, fmt.Errorf("field %s is a %s", v.Type().Field(i).Name, f.Type())
		}
	}
	return dst, nil
}

func appendText(dst []byte, number uint64, text string) []byte {
	if text == "" {
		return dst
	}
	return appendBytes(dst, number, []byte(text))
}

func appendBytes(dst []byte, number uint64, b []byte) []byte {
	dst = binary.AppendUvarint(dst, number<<3|wireBytes)
	dst = binary.AppendUvarint(dst, uint64(len(b)))
	return append(dst, b...)
}
