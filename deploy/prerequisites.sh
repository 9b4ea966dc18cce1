#!/bin/sh
# What must be on this machine before `make run` or `make test` can begin:  prerequisites.sh run|test [PYTHON]
#
# Names everything that is missing at once, with the commands that bring it, and exits 1. For `test`, as root on Debian or
# Ubuntu, it runs them itself. POSIX sh, and little else: this machine may have nothing yet.
purpose=${1:-run}
python=${2:-python3}
# Programs that run as tools are started under a user of their own, so the tests need an interpreter that any user may run.
public_python=${PUBLIC_PYTHON:-/usr/bin/python3}
fonts=${FONTS:-/usr/share/fonts}
os_release=${OS_RELEASE:-/etc/os-release}
ldconfig=${LDCONFIG:-/sbin/ldconfig}
# Debian keeps the server's programs off the PATH, one folder for each version.
postgresql=${POSTGRESQL:-/usr/lib/postgresql}
# Ubuntu's own Chromium is a snap, which no container can install.
ubuntu_browser="npx --yes playwright@1.65.1 install --with-deps chromium"

has() { command -v "$1" >/dev/null 2>&1; }

# need SENTENCE [PACKAGE…]: something is missing, and these packages of Debian bring it.
need() {
  missing="${missing}  * $1
"
  shift
  for package; do
    case " $packages " in
      *" $package "*) ;;
      *) packages="$packages $package" ;;
    esac
  done
}

look() {
  missing='' packages='' browser=''
  if ! has "$python"; then
    need "Python 3.11 or newer (or name one: make $purpose PYTHON=/path/to/python3)" python3 python3-venv
  elif ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    need "Python 3.11 or newer; $("$python" --version 2>&1) is too old (name another: make $purpose PYTHON=/path/to/python3)"
  elif ! "$python" -c 'import venv, ensurepip' >/dev/null 2>&1; then
    need "Python's venv module" python3-venv
  fi
  if ! has node; then
    need "Node.js 20 or newer" nodejs
  elif [ "$(node -p 'process.versions.node.split(".")[0]')" -lt 20 ]; then
    need "Node.js 20 or newer; $(node --version) is too old (see https://nodejs.org/en/download)"
  fi
  has npm || need "npm, which comes with Node.js" npm
  has git || need "git" git
  has_openmp || need "the OpenMP library, which the local model's server is linked to" libgomp1
  [ "$purpose" = test ] || return 0
  has_browser || need_browser
  has_firefox || need "Firefox (or name one: FIREFOX=/path/to/firefox)" firefox-esr
  has bwrap || need "bubblewrap, which only Linux has" bubblewrap
  [ -x "$public_python" ] || need "a Python that every user may run, at $public_python" python3
  has_fonts || need "fonts" fonts-dejavu-core
  has_postgresql || need "PostgreSQL's server, which the tests start in a temporary folder" postgresql
}

has_postgresql() {
  has initdb && return 0
  for program in "$postgresql"/*/bin/initdb; do
    [ -x "$program" ] && return 0
  done
  return 1
}

has_browser() {
  for found in "${CHROMIUM:-chromium-headless-shell}" chromium google-chrome "$HOME"/.cache/ms-playwright/chromium-*/chrome-linux*/chrome; do
    has "$found" && return 0
  done
  return 1
}

need_browser() {
  if is_ubuntu; then
    need "Chromium (or name one: CHROMIUM=/path/to/chromium)"
    browser=$ubuntu_browser
  else
    # The same browser without its windows: the tests open none that a person sees, and its toolbars cost a quarter of their time.
    need "Chromium (or name one: CHROMIUM=/path/to/chromium)" chromium-headless-shell
  fi
}

# Ubuntu's own Firefox is a snap, and on macOS it is no program on the PATH: there its tests are skipped where it is not found.
has_firefox() {
  [ "$(uname -s)" = Linux ] && ! is_ubuntu || return 0
  for found in "${FIREFOX:-firefox-esr}" firefox; do
    has "$found" && return 0
  done
  return 1
}

# Where no list of libraries can be had, the model's own log says what is missing.
has_openmp() {
  [ -x "$ldconfig" ] || return 0
  "$ldconfig" -p | grep -q 'libgomp\.so\.1'
}

# macOS and others keep theirs elsewhere, and always have some.
has_fonts() {
  [ "$(uname -s)" = Linux ] || return 0
  for font in "$fonts"/*/*; do
    [ -e "$font" ] && return 0
  done
  return 1
}

# The commands that bring everything on this system, one a line; none where we know none.
commands() {
  if [ -z "$packages" ]; then
    :
  elif has apt-get; then
    echo "apt-get update"
    echo "apt-get install --yes --no-install-recommends$packages"
  elif has dnf; then
    echo "dnf install --assumeyes$(translate 's/ python3-venv//; s/ npm/ nodejs-npm/; s/libgomp1/libgomp/; s/chromium-headless-shell/chromium/; s/fonts-dejavu-core/dejavu-sans-fonts/; s/postgresql/postgresql-server/; s/firefox-esr/firefox/')"
  elif has pacman; then
    echo "pacman -S --needed$(translate 's/ python3-venv//; s/python3/python/g; s/libgomp1/gcc-libs/; s/chromium-headless-shell/chromium/; s/fonts-dejavu-core/ttf-dejavu/; s/firefox-esr/firefox/')"
  elif has brew; then
    echo "brew install$(translate 's/ python3-venv//; s/nodejs/node/; s/ npm//; s/chromium-headless-shell/chromium/; s/ libgomp1//; s/ bubblewrap//; s/ fonts-dejavu-core//')"
  fi
  [ -z "$browser" ] || echo "$browser"
}

translate() { echo "$packages" | sed "$1"; }

is_root() { [ "$(id -u 2>/dev/null)" = 0 ]; }

is_ubuntu() { grep -qx 'ID=ubuntu' "$os_release" 2>/dev/null; }

install_all() {
  export DEBIAN_FRONTEND=noninteractive
  commands | while read -r line; do
    echo "Running: $line"
    # Unquoted: each word is an argument. What it prints is of interest only when it fails.
    said=$($line </dev/null 2>&1) || { echo "$said" >&2; return 1; }
  done
}

look
if [ "$purpose" = test ] && [ -n "$packages$browser" ] && has apt-get && is_root; then
  install_all
  look
fi
[ -n "$missing" ] || exit 0

{
  printf 'countersign: before `make %s` this machine needs\n\n%s\n' "$purpose" "$missing"
  bring=$(commands)
  if [ -n "$bring" ]; then
    is_root || has brew || echo "As root:"
    echo "$bring" | sed 's/^/  /'
  elif [ -n "$packages" ]; then
    echo "Install that with this system's package manager."
  fi
} >&2
exit 1
