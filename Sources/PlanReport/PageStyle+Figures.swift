extension PageStyle {
    /// Charts, heat map, floor plan and tables. On a phone the letters of a drawing grow, as the drawing shrinks.
    static let figures = #"""
        figure { min-width: 0; }
        figcaption p { margin: .25rem 0 .6rem; color: var(--soft); font-size: .92rem; max-width: 46rem; }
        figure svg { display: block; width: 100%; max-width: 41rem; height: auto; margin: .3rem auto 0; overflow: visible;
          font-family: inherit; }
        svg text { fill: var(--ink); font-size: 14.5px; }
        svg .tick, svg .name { fill: var(--soft); font-variant-numeric: tabular-nums; }
        svg .strong { font-weight: 600; font-size: 15.5px; }
        .grid { stroke: var(--line); stroke-width: 1; }
        .axis { stroke: var(--soft); stroke-width: 1.2; }
        .line { fill: none; stroke-width: 3; stroke-linejoin: round; stroke-linecap: round; }
        .s0 { stroke: var(--blue); --swatch: var(--blue); }
        .s1 { stroke: var(--amber); stroke-dasharray: 9 5; --swatch: var(--amber); }
        .s2 { stroke: var(--teal); stroke-dasharray: 2 5; --swatch: var(--teal); }
        .s3 { stroke: var(--violet); stroke-dasharray: 12 4 2 4; --swatch: var(--violet); }
        .s4 { stroke: var(--rose); stroke-dasharray: 5 3; --swatch: var(--rose); }
        .s5 { stroke: var(--olive); stroke-dasharray: 14 6; --swatch: var(--olive); }
        .s6 { stroke: var(--soft); --swatch: var(--soft); }
        .s7 { stroke: var(--ink); stroke-dasharray: 3 3; --swatch: var(--ink); }
        .band, .fill { fill: var(--wash); --swatch: var(--wash); }
        .rim { fill: none; stroke: var(--blue); stroke-width: 2.5; stroke-linejoin: round; }
        .marker, .percentile { stroke-width: 2; }
        .m0 { stroke: var(--ink); } .m1 { stroke: var(--amber); } .m2 { stroke: var(--teal); } .m3 { stroke: var(--violet); }
        .marker.m1, .marker.m2 { stroke-dasharray: 4 4; }
        .p50 { stroke: var(--blue); --swatch: var(--blue); } .p90 { stroke: var(--amber); --swatch: var(--amber); }
        .p99 { stroke: var(--rose); --swatch: var(--rose); }
        svg text.label { font-weight: 600; stroke: var(--card); stroke-width: 5px; stroke-linejoin: round;
          stroke-dasharray: none; paint-order: stroke; }
        text.m0 { fill: var(--ink); } text.m1 { fill: var(--amber); } text.m2 { fill: var(--teal); }
        text.m3 { fill: var(--violet); } text.p50 { fill: var(--blue); } text.p90 { fill: var(--amber); }
        text.p99 { fill: var(--rose); }
        .legend { display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; margin: .4rem 0; padding: 0; list-style: none;
          color: var(--soft); font-size: .88rem; }
        .legend li { display: flex; align-items: center; gap: .45rem; }
        .swatch { flex: none; width: 1.3rem; height: .7rem; border-radius: .2rem; background: var(--swatch, var(--blue)); }
        .swatch.beacon { width: .8rem; height: .8rem; border-radius: 50%; background: var(--gold);
          border: 2px solid var(--ink); }
        .swatch.beacon.proposed { background: none; border: 2px dashed var(--ink); }
        .swatch.silent { background: var(--soft); }
        .h0 { fill: var(--h0); background: var(--h0); } .h1 { fill: var(--h1); background: var(--h1); }
        .h2 { fill: var(--h2); background: var(--h2); } .h3 { fill: var(--h3); background: var(--h3); }
        .h4 { fill: var(--h4); background: var(--h4); } .h5 { fill: var(--h5); background: var(--h5); }
        .h6 { fill: var(--h6); background: var(--h6); } .h7 { fill: var(--h7); background: var(--h7); }
        .outline { fill: none; stroke: var(--ink); stroke-width: 2.5; stroke-linejoin: round; }
        .wall { fill: none; stroke: var(--ink); stroke-linecap: round; }
        .way { fill: none; stroke: var(--violet); stroke-width: 2.5; stroke-dasharray: 1 7; stroke-linecap: round; }
        circle.beacon { fill: var(--gold); stroke: #17222e; stroke-width: 1.6; }
        circle.proposed { fill: none; stroke: var(--ink); stroke-dasharray: 3 2; stroke-width: 2; }
        .dots { stroke: var(--gold); stroke-width: 4; stroke-linecap: round; fill: none; }
        .dots.proposed { stroke: var(--violet); }
        .weak { fill: var(--card); stroke: var(--rose); stroke-width: 2.5; }
        svg .weakName { font-weight: 700; font-size: 13px; }
        .silent { fill: var(--soft); }
        .rule { stroke: var(--ink); stroke-width: 2; }
        .scroll { overflow-x: auto; }
        table { border-collapse: collapse; width: 100%; font-size: .92rem; font-variant-numeric: tabular-nums; }
        caption { padding: .4rem 0; color: var(--soft); text-align: left; font-size: .88rem; }
        th, td { padding: .35rem .6rem; border-bottom: 1px solid var(--line); text-align: right; vertical-align: top; }
        th:first-child { text-align: left; padding-left: 0; }
        .figures { max-width: 46rem; }
        .figures td { font-weight: 600; white-space: nowrap; padding-left: 1.5rem; }
        small { display: block; color: var(--soft); font-weight: 400; }
        #floorPlan svg { max-width: 52rem; }
        thead th { color: var(--soft); font-weight: 600; vertical-align: bottom; }
        tbody th { font-weight: 500; }
        table.heat { border-collapse: separate; border-spacing: 3px; table-layout: fixed; }
        .heat th, .heat td { border: 0; text-align: center; padding: .5rem .15rem; }
        .heat th:first-child { text-align: right; width: 4.2rem; padding-right: .5rem; }
        .heat thead th { font-size: .74rem; }
        .heat thead span { display: inline-block; margin: 0 -.5rem; }
        .heat td { border-radius: .35rem; color: var(--heatInk); }
        .heat td.h6, .heat td.h7 { color: var(--hotInk); }
        .heat td.resonant { box-shadow: inset 0 0 0 2px currentColor; }
        .resonance { margin-left: .25em; font-size: .8em; }
        details.data { margin-top: .7rem; }
        summary { cursor: pointer; color: var(--blue); font-size: .92rem; width: fit-content; }
        .spoken { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
        @media (max-width: 40rem) {
          svg text { font-size: 21px; } svg .strong { font-size: 22px; } svg .weakName { font-size: 15px; }
          .heat th, .heat td { padding: .45rem .05rem; font-size: .74rem; }
          .heat thead th { font-size: .8rem; }
          .heat thead th + th { vertical-align: bottom; }
          .heat thead span { writing-mode: vertical-rl; transform: rotate(180deg); margin: 0; white-space: nowrap; }
          .heat th:first-child { width: 2.9rem; padding-right: .25rem; }
          .resonance { display: block; margin: 0; line-height: .8; }
          caption .resonance { display: inline; }
          table.heat { border-spacing: 2px; }
        }
        """#
}
