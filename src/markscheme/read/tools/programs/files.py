"""Programs that change files: move, pack, convert, compile, edit."""

from __future__ import annotations

from markscheme.read.tools.programs.rules import ProgramRule

RULES = (
    ProgramRule(
        programs="""
            rm rmdir mv mkdir touch ln chmod chown chgrp truncate install ginstall unlink shred
            patch dd apply_patch applypatch mkfifo mknod rename mmv trash trash-put gio-trash rimraf
            del-cli cpy-cli mkdirp setfacl chattr chflags setfattr sponge split csplit dos2unix
            unix2dos fallocate ditto srm wipe link lndir stow chezmoi detox convmv mkfile
        """,
        changes="*",
    ),
    ProgramRule(programs="mktemp", changes="*", reading=r"-u"),
    ProgramRule(
        programs="cp gcp",
        changes="*",
    ),
    ProgramRule(
        programs="rsync",
        changes="*",
        reading=r"-[a-zA-Z]*n[a-zA-Z]*|--list-only",
    ),
    ProgramRule(
        programs="scp sftp ftp lftp ncftpput tftp pscp ssh-copy-id aria2c axel",
        changes="*",
    ),
    ProgramRule(
        programs="rclone",
        changes="*",
        reads="ls lsl lsd lsf lsjson cat size check about tree listremotes version config/show",
    ),
    ProgramRule(
        programs="xattr",
        changing=r"-[a-z]*[wdc][a-z]*",
    ),
    ProgramRule(
        programs="unzip",
        changes="*",
        reading=r"-[a-zA-Z]*[lptvZ][a-zA-Z]*",
    ),
    ProgramRule(
        programs="zip",
        changes="*",
        reading=r"-sf|-T|-h|--show-files",
    ),
    ProgramRule(
        programs="""
            gunzip gzip pigz bzip2 bunzip2 xz unxz lzma unlzma zstd unzstd lz4 brotli compress
            uncompress
        """,
        changes="*",
        reading=r"-[a-zA-Z]*[clt][a-zA-Z]*|--(stdout|to-stdout|list|test)",
    ),
    ProgramRule(
        programs="7z 7za 7zz unrar rar unar",
        changes="*",
        reads="l t lt lb v vt p",
    ),
    ProgramRule(
        programs="sort shuf iconv xmllint pandoc graphviz dot tree jq jaq csvcut nl base64 base32",
        reads="*",
        outputs=r"-o|--output",
    ),
    ProgramRule(
        programs="gcc g++ cc c++ clang clang++ rustc ld nasm as javac kotlinc swiftc ghc nim",
        changes="*",
        reading=r"-E|-fsyntax-only|-###|-M{1,2}|--print.*|-print.*|-dump\w*|-v|-help",
    ),
    ProgramRule(
        programs="""
            strip objcopy ranlib codesign install_name_tool svgo optipng pngcrush jpegoptim mogrify
        """,
        changes="*",
    ),
    ProgramRule(
        programs="convert magick sox montage wkhtmltopdf plantuml mmdc qpdf pdftk gs inkscape cwebp"
        " ffmpeg avconv rsvg-convert img2webp pngquant cjpeg guetzli screencapture scrot",
        changes="*",
    ),
    # Editors; a literal script of `ed`, `ex` and `vim` is looked into first.
    ProgramRule(
        programs="vi vim nvim gvim ex ed red nano pico micro emacs emacsclient joe jed kak helix hx"
        " gedit mcedit",
        changes="*",
        reading=r"-R|-M|--readonly",
    ),
    ProgramRule(
        programs="yt-dlp youtube-dl gallery-dl httrack",
        changes="*",
        reading=r"-F|-j|-J|-s|-g|--list-\w+|--dump-\w+|--simulate|--get-\w+",
    ),
    ProgramRule(
        programs="exiftool",
        reads="*",
        changing=r"-[\w:]+[-+<^]?=.*|-overwrite_original\w*|-tagsfromfile|-o|-w",
    ),
    ProgramRule(
        programs="jar",
        reads="*",
        reading=r"-?t[a-z]*|--list|--describe-module|-d",
        changing=r"-?[cxui][a-zA-Z0-9]*|--(create|extract|update|generate-index)",
    ),
)
