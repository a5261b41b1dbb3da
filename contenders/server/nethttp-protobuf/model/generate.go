// Package model contains the code that protoc-gen-go generates for batch.proto.
package model

//go:generate go run -C ../../../../tools/protogen . ../../contenders/server/nethttp-protobuf/model
