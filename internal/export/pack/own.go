package pack

import (
	"crypto/sha1" //nolint:gosec // ECMA-335 II.6.3 defines the token of a public key by it
	"encoding/hex"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// tokens are the tokens of the public keys of .NET's assemblies (StrongNameKeys.targets of dotnet/arcade).
var tokens = []string{
	"b77a5c561934e089", // ECMA
	"b03f5f7f11d50a3a", // Microsoft
	"31bf3856ad364e35", // shared libraries
	"cc7b13ffcd2ddd51", // Open
	"adb9793829ddae60", // ASP.NET Core
	"7cec85d7bea7798e", // System.Private.CoreLib
}

// libraries are .NET's native libraries: by the name of the file, without "lib" and extension, a function that each version exports.
var libraries = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"coreclr": "coreclr_initialize", "coreclrtraceptprovider": "PAL_InitializeTracing", "clrjit": "getJit", "clrinterpreter": "getJit",
		"clrgc": "GC_Initialize", "clrgcexp": "GC_Initialize", "mscordaccore": "CLRDataCreateInstance", "mscordbi": "CoreCLRCreateCordbObject",
		"hostfxr": "hostfxr_main", "hostpolicy": "corehost_main",
		"system.native": "SystemNative_Read", "system.globalization.native": "GlobalizationNative_LoadICU",
		"system.io.compression.native": "CompressionNative_Crc32", "system.net.security.native": "NetSecurityNative_AcceptSecContext",
		"system.security.cryptography.native.openssl": "CryptoNative_EnsureOpenSslInitialized",
	}
})

// commitMark follows the version in .NET's native libraries.
const commitMark = "@Commit: "

// isNET reports whether a file is .NET's own: an assembly with a name in System or Microsoft and a public key of .NET, or a
// native library with the name, the version and an exported function of one.
func isNET(e *dump.PackEntry) bool {
	var im *image.Image
	var err error
	if e.Source != nil {
		im, err = image.OpenSource(e.Path, target.ReaderAtSource(e.Source, e.Size))
	} else if im, err = image.OpenFile(e.Path); err == nil {
		defer im.Close()
	}
	if err != nil {
		return false
	}
	if b, err := im.Metadata(); err == nil {
		return isNETAssembly(b.Data)
	}
	name := strings.ToLower(path.Base(strings.ReplaceAll(e.Path, `\`, "/")))
	exports, known := libraries()[strings.TrimSuffix(strings.TrimPrefix(name, "lib"), path.Ext(name))]
	if !known {
		return false
	}
	version, err := im.VersionString()
	if err != nil || !strings.Contains(version, commitMark) {
		return false
	}
	_, _, err = im.Symbol(exports)
	return err == nil
}

// isNETAssembly reports whether metadata is of an assembly of .NET.
func isNETAssembly(b []byte) bool {
	md, err := metadata.Parse(b)
	if err != nil {
		return false
	}
	row, err := md.Assembly(1)
	if err != nil {
		return false
	}
	name, err := md.String(row.Name)
	if err != nil || !strings.HasPrefix(name, "System") && !strings.HasPrefix(name, "Microsoft.") && name != "mscorlib" && name != "netstandard" && name != "WindowsBase" {
		return false
	}
	key, err := md.Blob(row.PublicKey)
	return err == nil && len(key) > 0 && slices.Contains(tokens, token(key))
}

// token returns the token of a public key: the last eight bytes of its SHA-1, reversed.
func token(key []byte) string {
	sum := sha1.Sum(key) //nolint:gosec // see the import
	last := sum[len(sum)-8:]
	slices.Reverse(last)
	return hex.EncodeToString(last)
}
