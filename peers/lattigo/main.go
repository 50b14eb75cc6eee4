// Lattigo behind the line protocol of peers/README.md: one request a line on standard input, one
// answer a line on standard output.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"time"
)

// protocol is the version spoken here.
const protocol = 1

// request is every request in one: absent fields are zero.
type request struct {
	ID       uint64   `json:"id"`
	Do       string   `json:"do"`
	Protocol int      `json:"protocol"`
	Scheme   string   `json:"scheme"`
	N        int      `json:"n"`
	T        uint64   `json:"t"`
	Q        []uint64 `json:"q"`
	P        []uint64 `json:"p"`
	LogScale int      `json:"log_scale"`
	Set      string   `json:"set"`
	// Whole numbers for bfv, bgv and ntt; real and imaginary parts in turn for the others.
	Left      json.RawMessage `json:"left"`
	Right     json.RawMessage `json:"right"`
	Operation string          `json:"operation"`
	Calls     int             `json:"calls"`
	Warm      bool            `json:"warm"`
	Steps     []step          `json:"steps"`
	// Of several parties: their number, log2 of the deviation of flooding noise, and of the modulus of shares of decryptions.
	Parties      int     `json:"parties"`
	FloodingBits float64 `json:"flooding_bits"`
	OpenBits     float64 `json:"open_bits"`
}

// step is one of a circuit, on values: 0 and 1 are the operands, 2 is the first result.
type step struct {
	Name string `json:"name"`
	Left int    `json:"left"`
	// The other value, or the steps of a rotation to the left.
	Right int `json:"right"`
}

type answer map[string]any

// job is what a prepared scheme can do.
type job interface {
	operations() []string
	// operation returns what is to be called again and again.
	operation(name string) (func() error, error)
	// verify returns the values that the result of the operation stands for.
	verify(name string) (any, error)
}

// described is a job that says what its parameters and keys come to.
type described interface {
	about() about
}

// informed is a job with more to tell than its operations.
type informed interface {
	facts() any
}

// replaceable is a job that takes other operands with the same keys.
type replaceable interface {
	replace(asked request) error
}

// computing is a job that runs circuits.
type computing interface {
	circuit(steps []step) ([]uint64, error)
}

func main() {
	runtime.GOMAXPROCS(1)
	input := bufio.NewReader(os.Stdin)
	output := bufio.NewWriter(os.Stdout)
	var prepared job
	for {
		line, err := input.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return
		}
		var asked request
		var given answer
		if err := json.Unmarshal(line, &asked); err != nil {
			given = answer{"error": err.Error()}
		} else if asked.Do == "quit" {
			return
		} else if given, err = serve(asked, &prepared); err != nil {
			given = answer{"error": err.Error()}
		}
		given["id"] = asked.ID
		text, err := json.Marshal(given)
		if err != nil {
			text = []byte(`{"error": "the answer is no JSON"}`)
		}
		if _, err := output.Write(append(text, '\n')); err != nil {
			return
		}
		if err := output.Flush(); err != nil {
			return
		}
	}
}

func serve(asked request, prepared *job) (answer, error) {
	switch asked.Do {
	case "hello":
		if asked.Protocol != protocol {
			return nil, fmt.Errorf("protocol %d was asked for, this is %d", asked.Protocol, protocol)
		}
		return answer{
			"protocol": protocol,
			"library":  "Lattigo",
			"version":  libraryVersion(),
			"features": fmt.Sprintf("%s, GOAMD64=%s, GOMAXPROCS=1", runtime.Version(), setting("GOAMD64")),
		}, nil
	case "sizes":
		bytes, err := sizes(asked)
		return answer{"bytes": bytes}, err
	case "prepare":
		made, err := prepare(asked)
		if err != nil {
			return nil, err
		}
		*prepared = made
		// What was prepared before is garbage: collected now, not while something is timed.
		runtime.GC()
		given := answer{"operations": made.operations()}
		if made, ok := made.(described); ok {
			given["about"] = made.about()
		}
		if made, ok := made.(informed); ok {
			given["facts"] = made.facts()
		}
		return given, nil
	}
	if *prepared == nil {
		return nil, fmt.Errorf("cannot %q: nothing is prepared yet", asked.Do)
	}
	switch asked.Do {
	case "replace":
		if made, ok := (*prepared).(replaceable); ok {
			return answer{}, made.replace(asked)
		}
		return nil, errors.New("what is prepared takes no other operands")
	case "verify":
		values, err := (*prepared).verify(asked.Operation)
		if err != nil {
			return nil, err
		}
		return answer{"values": values}, nil
	case "circuit":
		made, ok := (*prepared).(computing)
		if !ok {
			return nil, errors.New("what is prepared runs no circuits")
		}
		values, err := made.circuit(asked.Steps)
		return answer{"values": values}, err
	case "run":
		call, err := (*prepared).operation(asked.Operation)
		if err != nil {
			return nil, err
		}
		taken, err := turn(call, asked.Calls, asked.Warm)
		return answer{"nanoseconds": taken.Nanoseconds()}, err
	}
	return nil, fmt.Errorf("no request %q", asked.Do)
}

func prepare(asked request) (job, error) {
	switch asked.Scheme {
	case "bfv":
		return newScheme(asked, true)
	case "bgv":
		return newScheme(asked, false)
	case "ckks":
		return newApproximate(asked)
	case "parties":
		return newParties(asked)
	case "bootstrapping":
		return newRefresh(asked)
	case "ntt":
		return newTransform(asked)
	}
	return nil, fmt.Errorf("no scheme %q", asked.Scheme)
}

func turn(call func() error, calls int, warm bool) (time.Duration, error) {
	if warm {
		if err := call(); err != nil {
			return 0, err
		}
	}
	begin := time.Now()
	for range calls {
		if err := call(); err != nil {
			return 0, err
		}
	}
	return time.Since(begin), nil
}

// words reads whole numbers.
func words(text json.RawMessage) ([]uint64, error) {
	var read []uint64
	err := json.Unmarshal(text, &read)
	return read, err
}

// operands reads both operands of whole numbers.
func operands(asked request) (left, right []uint64, err error) {
	if left, err = words(asked.Left); err != nil {
		return nil, nil, err
	}
	right, err = words(asked.Right)
	return left, right, err
}

// libraryVersion is what the program was linked with.
func libraryVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == "github.com/tuneinsight/lattigo/v6" {
				return module.Version
			}
		}
	}
	return "unknown"
}

// setting is a setting of the build.
func setting(key string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, one := range info.Settings {
			if one.Key == key {
				return one.Value
			}
		}
	}
	return "unknown"
}
