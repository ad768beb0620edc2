/// The style of the page: paper and ink, one blue, one amber; a dark scheme on screens that ask for one, and paper in
/// print.
enum PageStyle {
    static let text = [colors, layout, figures].joined(separator: "\n")
    /// What a Content-Security-Policy calls it.
    static let source = ContentHash.source(of: text)

    static let colors = #"""
        :root { color-scheme: light; --paper: #faf8f4; --card: #ffffff; --ink: #17222e; --soft: #536170; --line: #dcdfe2;
          --blue: #0b5c9e; --wash: #0b5c9e1f; --amber: #a84a05; --teal: #0d6b64; --violet: #6a3c9c; --rose: #a3275c;
          --olive: #5f6413; --on: #ffffff; --gold: #e39a1d;
          --h0: #e7f1f0; --h1: #c6e1de; --h2: #9dcdc8; --h3: #f4e3ac; --h4: #f2c271; --h5: #e8984c; --h6: #bf4b2c;
          --h7: #8c2430; --heatInk: #17222e; --hotInk: #ffffff; }
        @media screen and (prefers-color-scheme: dark) {
          :root { color-scheme: dark; --paper: #0c131b; --card: #141d28; --ink: #e7ecf1; --soft: #a4b1be; --line: #2b3846;
            --blue: #7cbcff; --wash: #7cbcff2b; --amber: #ffb45e; --teal: #62d3c5; --violet: #c9a9ff; --rose: #ff9cc4;
            --olive: #d3d977; --on: #0c131b; --gold: #ffb45e;
            --h0: #15303a; --h1: #1b464b; --h2: #28605c; --h3: #5c6429; --h4: #866622; --h5: #a1561f; --h6: #b0432f;
            --h7: #b52f45; --heatInk: #f5f7f9; --hotInk: #ffffff; }
        }
        """#

    static let layout = #"""
        * { box-sizing: border-box; }
        html { -webkit-text-size-adjust: 100%; }
        body { margin: 0; background: var(--paper); color: var(--ink); line-height: 1.5;
          font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; }
        main, header, footer { max-width: 72rem; margin: 0 auto; padding: 0 1.25rem; }
        header { padding-top: 2.5rem; }
        .brand { display: flex; align-items: center; gap: .6rem; margin: 0; color: var(--soft); font-size: .95rem; }
        .brand svg { width: 1.6rem; height: 1.6rem; }
        h1, .answer { font-family: Charter, "Iowan Old Style", Georgia, "Noto Serif", "DejaVu Serif", serif; }
        h1 { margin: .9rem 0 .4rem; font-size: clamp(1.5rem, 4.5vw, 2.3rem); line-height: 1.2; font-weight: 600;
          text-wrap: balance; overflow-wrap: anywhere; }
        h2 { margin: 0; font-size: 1.15rem; line-height: 1.3; }
        .answer { margin: .2rem 0 1rem; max-width: 46rem; font-size: clamp(1.1rem, 2.6vw, 1.35rem); line-height: 1.5;
          overflow-wrap: anywhere; }
        .command { margin: 0 0 2rem; }
        code { display: block; padding: .6rem .9rem; border-radius: .5rem; background: var(--card); color: var(--soft);
          border: 1px solid var(--line); white-space: pre-wrap; overflow-wrap: anywhere;
          font: .85rem/1.5 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
        .card { margin: 0 0 1.25rem; padding: 1.1rem 1.25rem; border: 1px solid var(--line); border-radius: .8rem;
          background: var(--card); }
        .explorer > h2 { font-size: 1.4rem; }
        .hint { margin: .2rem 0 1rem; color: var(--soft); }
        .controls { display: grid; gap: 1rem 1.5rem; grid-template-columns: repeat(auto-fit, minmax(min(17rem, 100%), 1fr)); }
        .control { display: flex; flex-direction: column; gap: .35rem; justify-content: flex-start; }
        label { color: var(--soft); font-size: .9rem; }
        input[type=number], select, button { width: 100%; min-height: 2.6rem; padding: .35rem .6rem; border-radius: .45rem;
          border: 1px solid var(--soft); background: var(--paper); color: var(--ink); font: inherit;
          font-variant-numeric: tabular-nums; }
        input[aria-invalid=true] { border: 2px solid var(--rose); }
        button { cursor: pointer; margin-top: 1.72rem; }
        button:hover { border-color: var(--blue); color: var(--blue); }
        input[type=range] { width: 100%; height: 1.5rem; margin: 0; accent-color: var(--blue); }
        :focus-visible { outline: 3px solid var(--blue); outline-offset: 2px; border-radius: .3rem; }
        #sentence { min-height: 3.2em; margin: 1.2rem 0; padding-left: 1rem; border-left: 4px solid var(--gold);
          font-size: 1.08rem; max-width: 52rem; }
        #sentence:empty { display: none; }
        .tiles { display: grid; gap: .75rem; margin: 0 0 .75rem;
          grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); }
        [hidden] { display: none !important; }
        .tiles div { display: flex; flex-direction: column; justify-content: space-between; padding: .7rem .9rem;
          border: 1px solid var(--line); border-radius: .6rem; background: var(--card); }
        dt { color: var(--soft); font-size: .85rem; line-height: 1.3; }
        dd { margin: .3rem 0 0; font-size: 1.2rem; font-weight: 600; font-variant-numeric: tabular-nums; }
        .tiles.seen { grid-template-columns: repeat(auto-fit, minmax(10.5rem, 1fr)); }
        .tiles.seen div { border-top: 3px solid var(--blue); }
        .best { grid-template-columns: repeat(auto-fit, minmax(12rem, 1fr)); }
        .best div { border-top: 3px solid var(--teal); }
        .best div + div { border-top-color: var(--amber); }
        .best div + div + div { border-top-color: var(--line); }
        .tiles.seen dd { font-size: 1.6rem; line-height: 1.2; }
        [aria-busy=true] dd { color: var(--soft); }
        .pair { display: grid; gap: 1.25rem; margin-top: 1.25rem;
          grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); }
        .pair > figure { margin: 0; }
        main > .pair { margin: 0 0 1.25rem; }
        .explorer { margin-bottom: 1.25rem; }
        footer { padding-top: .5rem; padding-bottom: 3rem; color: var(--soft); font-size: .9rem; }
        .notes li { margin: .35rem 0; max-width: 60rem; }
        @media (max-width: 40rem) {
          main, header, footer { padding-left: .8rem; padding-right: .8rem; }
          header { padding-top: 1.4rem; }
          .card { padding: .9rem .8rem; }
          .tiles, .tiles.seen, .tiles.best { grid-template-columns: 1fr 1fr; gap: .5rem; }
          .best { grid-template-columns: repeat(auto-fit, minmax(12rem, 1fr)); }
        .best div { border-top: 3px solid var(--teal); }
        .best div + div { border-top-color: var(--amber); }
        .best div + div + div { border-top-color: var(--line); }
        .tiles.seen dd { font-size: 1.3rem; }
          .tiles dd { font-size: 1.1rem; }
          button { margin-top: 0; }
        }
        @media print {
          body { font-size: 10pt; }
          .controls, .hint, #reset { display: none; }
          .card, .tiles div { break-inside: avoid; border-color: #999; }
          details.data { display: none; }
        }
        @media (prefers-reduced-motion: no-preference) {
          button, input, select { transition: border-color .15s, color .15s; }
        }
        """#
}
