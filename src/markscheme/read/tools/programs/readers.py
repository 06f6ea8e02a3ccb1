"""Programs that change nothing, whatever their arguments; redirections are judged elsewhere."""

from __future__ import annotations

from markscheme.read.json_fields import split_words

READING_PROGRAMS = split_words(
    """
    cat bat batcat head tail less more most ls ll la l dir vdir exa eza lsd rg ripgrep ripgrep-all
    rga grep egrep fgrep zgrep zegrep zfgrep bzgrep xzgrep ag ack ugrep pt git-grep wc cut paste tr
    rev tac fold fmt column join comm diff cmp sdiff diff3 colordiff delta difft icdiff echo printf
    true false test [ [[ ]] : pwd cd pushd popd dirs export unset set declare local typeset readonly
    unalias shopt setopt unsetopt return exit logout break continue shift let read readarray mapfile
    wait jobs fg bg disown hash type which whereis whatis apropos man info help cal sleep usleep seq
    expr bc dc factor basename dirname realpath readlink stat file du df free uptime uname whoami id
    groups who w last users finger env printenv locale tty arch nproc lscpu lsblk lspci lsusb lsof
    lsmod ps pstree pgrep pidof top htop btop vmstat iostat mpstat sar netstat ss ping ping6
    traceroute tracepath mtr dig nslookup host whois getent md5sum sha1sum sha224sum sha256sum
    sha384sum sha512sum md5 shasum cksum b2sum b3sum sum crc32 xxd hexdump hd od
    strings nm objdump readelf otool ldd size addr2line c++filt gron xq htmlq pup csvlook csvstat
    csvgrep csvsort csvjson mlr xsv qsv zcat bzcat xzcat zless zmore gzcat zstdcat lz4cat tokei cloc
    scc sloccount ffprobe identify mediainfo pdfinfo pdfgrep getopts times fc tput clear reset stty
    yes time tsort numfmt envsubst getconf sw_vers system_profiler mdfind mdls ioreg shellcheck
    hadolint yamllint jsonlint xmlwf pycodestyle pydocstyle pyflakes pyright basedpyright bandit
    vulture radon mccabe tflint tfsec checkov kubeval kubeconform actionlint luacheck phpstan psalm
    phpcs phpmd cppcheck cpplint esac fi done case in for select function do then else if elif while
    until { } ! coproc findstr where more.com systeminfo tasklist ver vol ipconfig comp chdir title
    rem cls tldr cheat wslpath cygpath pbpaste dust duf procs glow mdcat acpi sensors lshw dmidecode
    inxi neofetch fastfetch apt-cache dpkg-query rpmquery view zipinfo lsar zipgrep arp hostid
    logname look spell unexpand pr ptx gettext ngettext ncdu gdu broot tig gitk onefetch
    dircolors lastlog utmpdump nettop lsns lslocks findmnt blkid fzf sk peco ctop k9s stern kubetail
    hexyl units figlet cowsay toilet lolcat pv jless jc yj jp jmespath toml2json tomlq htmltidy
    cmark inotifywait pygmentize highlight source-highlight
"""
)
