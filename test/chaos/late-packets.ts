// A network device whose packets arrive later. Linux has netem for that, but not every kernel is built with it. Here a small program
// holds each packet that is sent through the device, and then lets it arrive there.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'

/** How long each packet takes: as far as another continent. */
const DELAY_SECONDS = 0.2
/** Packets with this mark take the routes of the table with the same number. */
export const LATE = '7702'
const DEVICE = 'late'
const LOCAL = ['lookup', 'local']

/** Perl, because Node.js cannot attach to such a device. It keeps the order of the packets. */
const PROGRAM = `
  use strict;
  use Time::HiRes 'time';
  my ($name, $delay) = @ARGV;
  sysopen(my $device, '/dev/net/tun', 2) or die "/dev/net/tun: $!";
  my ($set_interface, $tun_without_header) = (0x400454ca, 0x1001);
  ioctl($device, $set_interface, pack('a16 s x22', $name, $tun_without_header)) or die "$name: $!";
  syswrite(STDOUT, "ready\\n");
  my @held;
  while (1) {
    my $wait = @held ? $held[0][0] - time : undef;
    if (defined $wait && $wait <= 0) { syswrite($device, (shift @held)->[1]); next }
    vec(my $readable = '', fileno($device), 1) = 1;
    next unless select($readable, undef, undef, $wait) > 0;
    sysread($device, my $packet, 70_000) or die "$name: $!";
    push @held, [time + $delay, $packet];
  }
`

export class LatePackets {
  private holder: ChildProcess | undefined

  /** Makes the device, unless it exists. */
  async open(): Promise<void> {
    if (this.holder) return
    const stdio = ['ignore', 'pipe', 'inherit'] as const
    this.holder = spawn('setpriv', ['--pdeathsig', 'KILL', 'perl', '-e', PROGRAM, DEVICE, String(DELAY_SECONDS)], {
      stdio: [...stdio]
    })
    const [said] = await Promise.race([once(this.holder.stdout as Readable, 'data'), once(this.holder, 'exit')])
    if (String(said) !== 'ready\n') throw new Error('packets cannot be delayed: see the reason above')
    ip('link', 'set', DEVICE, 'mtu', '65535', 'up')
    // The addresses of the parts are local, and a device does not take packets for these by itself.
    const options = ['route_localnet=1', 'accept_local=1', 'rp_filter=0']
    execFileSync('sysctl', ['-qw', ...options.map(option => `net.ipv4.conf.${DEVICE}.${option}`)])
    ip('route', 'add', 'default', 'dev', DEVICE, 'table', LATE)
    ip('rule', 'add', 'pref', '50', 'fwmark', LATE, 'lookup', LATE)
    // The first rule leads to local addresses: the one above has to come before it.
    ip('rule', 'add', 'pref', '100', ...LOCAL)
    ip('rule', 'del', 'pref', '0')
  }

  close(): void {
    if (!this.holder) return
    this.holder.kill('SIGKILL')
    this.holder = undefined
    ip('rule', 'add', 'pref', '0', ...LOCAL)
    ip('rule', 'del', 'pref', '100')
    ip('rule', 'del', 'pref', '50')
  }
}

const ip = (...args: readonly string[]): void =>
  void execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'inherit'] })
