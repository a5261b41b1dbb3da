// Package model contains the code that protoc-gen-go generates for fixture.proto.
package model

//go:generate go run -C ../../../../tools/protogen . ../../contenders/codec/protobuf/model
