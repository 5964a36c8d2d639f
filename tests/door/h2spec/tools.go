// Names the program that the tests of the door build; see ../test_http2.py.

//go:build tools

package h2spec

import _ "github.com/summerwind/h2spec/cmd/h2spec"
