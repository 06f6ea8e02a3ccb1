"""Services, users, disks, networks, keys, mail."""

from __future__ import annotations

from markscheme.read.tools.programs.rules import ProgramRule

RULES = (
    ProgramRule(
        programs="systemctl",
        changes="*",
        reads="status list-* show cat is-* get-default help",
    ),
    ProgramRule(
        programs="service rc-service",
        changes="*/*",
        reads="*/status",
    ),
    ProgramRule(
        programs="initctl supervisorctl pm2 forever monit sv rcctl",
        changes="""
            start stop restart reload delete del kill save add remove update reread shutdown
            resurrect
        """,
        reads="status list ls logs log show info jlist prettylist describe monit",
    ),
    ProgramRule(
        programs="kill pkill killall skill taskkill xkill",
        changes="*",
        reading=r"-0|-l|-L|--list",
    ),
    ProgramRule(
        programs="fuser",
        changing=r"-[a-z]*k[a-z]*|--kill",
    ),
    ProgramRule(
        programs="""
            at batch atrm mail mailx sendmail mutt msmtp swaks reboot shutdown poweroff halt useradd
            userdel usermod groupadd groupdel groupmod adduser deluser addgroup passwd chpasswd chsh
            chfn mkfs mkswap swapon swapoff umount modprobe rmmod insmod depmod ldconfig visudo vipw
            wall logger telinit init cryptsetup lvcreate lvremove vgcreate pvcreate parted sgdisk
            wipefs blkdiscard mkfs.ext4 fstrim tune2fs resize2fs grub-install update-grub newgrp
            gpasswd setcap semanage setsebool restorecon update-initramfs locale-gen
            dpkg-reconfigure iptables-restore
        """,
        changes="*",
        reading=r"-l|-S|--status|--list",
    ),
    ProgramRule(
        programs="fdisk sfdisk diskutil hdiutil losetup dmsetup zpool zfs btrfs",
        changes="*",
        reads="list ls info status get history show imageinfo",
        reading=r"-l|-a|--list|-d",
    ),
    ProgramRule(programs="mount", changes="*/*", reading=r"-l", changing=r"-a|--all|-o|--bind"),
    ProgramRule(
        programs="hostnamectl timedatectl localectl loginctl machinectl hostname",
        changes="set-* terminate-* kill-* enable-* disable-* lock-* start stop poweroff"
        " reboot import-*",
        reads="* status list-* show* list session-status",
    ),
    ProgramRule(programs="date", reads="*", changing=r"-s|--set"),
    ProgramRule(
        programs="crontab",
        changes="*",
        reading=r"-l",
        changing=r"-[eri]",
    ),
    ProgramRule(
        programs="defaults scutil",
        changes="write delete rename import",
        reads="* read read-type find domains export help",
        changing=r"--set",
    ),
    ProgramRule(programs="ulimit umask history", reads="*", changing=r"-[cwd]+"),
    ProgramRule(
        programs="launchctl",
        changes="*",
        reads="list print print-* blame getenv help version managername dumpstate examine",
    ),
    ProgramRule(programs="locate mlocate plocate", reads="*"),
    ProgramRule(programs="updatedb", changes="*"),
    ProgramRule(
        programs="iptables ip6tables nft ebtables ipset",
        changing=r"-[ADIRFXPNZE]|--(append|delete|insert|flush|policy)",
        changes="add delete flush create destroy insert",
        reads="list",
    ),
    ProgramRule(
        programs="ufw firewall-cmd",
        changes="allow deny reject limit enable disable reset reload delete insert route",
        reads="status show",
        changing=r"--(add|remove|set|reload|permanent).*",
    ),
    ProgramRule(
        programs="ip bridge tc",
        changes="*/add */del */delete */set */flush */change */replace */append",
        reads="* */show */list */ls */get",
    ),
    ProgramRule(
        programs="ifconfig",
        changes="*/up */down */netmask */add */del",
    ),
    ProgramRule(
        programs="route",
        changes="add del delete change flush",
        reads="* get",
    ),
    ProgramRule(
        programs="sysctl",
        changing=r"-w|--write|-p|--load|[\w.]+=.*",
    ),
    ProgramRule(
        programs="journalctl",
        reads="*",
        changing=r"--(vacuum|rotate|flush|sync).*",
    ),
    ProgramRule(
        programs="dmesg",
        reads="*",
        changing=r"-[cC]|--clear|--read-clear",
    ),
    ProgramRule(
        programs="tmux screen zellij",
        changes="*",
        reads="ls list-* capture-pane capturep show-* display-message info has-session has",
        reading=r"-ls|-list|-V",
    ),
    ProgramRule(
        programs="update-alternatives",
        changing=r"--(install|set|remove|auto|config).*",
    ),
    ProgramRule(
        programs="ssh-keygen",
        changes="*",
        reading=r"-[a-zA-Z]*[lFyB][a-zA-Z]*",
    ),
    ProgramRule(
        programs="ssh-add",
        changes="*",
        reading=r"-[lL]",
    ),
    ProgramRule(
        programs="openssl certtool keytool mkcert certbot acme.sh",
        outputs=r"-out|-keyout|--outfile",
        changing=r"-genkey\w*|-import\w*|-delete|-install|--issue|--renew",
        changes="renew certonly delete revoke",
        reads="certificates x509 s_client version dgst verify rand",
    ),
    ProgramRule(
        programs="gpg gpg2",
        outputs=r"-o|--output",
        changing=r"--(import|gen-key|full-gen.*|quick.*|delete.*|edit-key|sign|encrypt|detach-sign"
        r"|clearsign|recv-keys|refresh-keys|send-keys|generate-key)|-[esb]\w*",
    ),
    ProgramRule(
        programs="pass gopass",
        changes="insert generate rm mv cp edit init git",
        reads="ls show find grep",
    ),
    ProgramRule(
        programs="security",
        changes="add-* delete-* create-* set-* import unlock-keychain",
        reads="find-* list-* show-* dump-*",
    ),
    ProgramRule(programs="hwclock", reads="*", changing=r"-[wsau]|--(systohc|hctosys|set|adjust)"),
    ProgramRule(
        programs="logrotate a2ensite a2dissite a2enmod a2dismod dpkg-divert tzselect run-parts",
        changes="*",
        reading=r"-d|--debug|--test|--list",
    ),
    ProgramRule(
        programs="nginx apachectl apache2ctl httpd caddy haproxy",
        changes="start stop restart graceful graceful-stop reload run adapt",
        reads="configtest status fullstatus validate version list-modules",
        reading=r"-[tTvVS]|-h",
        changing=r"-s|-k",
    ),
)
