// Takes the place of the package async-hook-domain (tap-domain.ts).

/** tap creates one for each test. `onerror` fails the test. */
export class Domain {
  constructor(readonly onerror: (error: unknown, type: string) => void) {}

  destroy(): void {}
}
