/* Lucene's BM25 rows and scores over tokens that are given to it; compare.py starts it: java -cp LUCENE.jar Scores.java
 *
 * Standard input: "rows n" and n lines of tokens with a space between them, then any number of requests "ask n k" and n such lines. Each
 * question is answered by one line of row:score. Lucene is untouched: its whitespace analyzer, its BM25Similarity with
 * k1 1.2 and b 0.75, its searcher. A token asked for n times is a term with the boost n. */
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.lucene.analysis.core.WhitespaceAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.BoostQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.store.ByteBuffersDirectory;

public class Scores {
    static final BM25Similarity SIMILARITY = new BM25Similarity(1.2f, 0.75f);

    /* Without merges a document's number is the place in which it was added. */
    static ByteBuffersDirectory build(BufferedReader in, int rows) throws Exception {
        var directory = new ByteBuffersDirectory();
        var config = new IndexWriterConfig(new WhitespaceAnalyzer()).setRAMBufferSizeMB(512);
        config.setSimilarity(SIMILARITY).setMergePolicy(NoMergePolicy.INSTANCE);
        try (IndexWriter writer = new IndexWriter(directory, config)) {
            for (int row = 0; row < rows; row++) {
                Document document = new Document();
                document.add(new TextField("text", in.readLine(), Field.Store.NO));
                writer.addDocument(document);
            }
        }
        return directory;
    }

    static Query query(String line) {
        Map<String, Integer> counts = new LinkedHashMap<>();
        for (String token : line.split(" "))
            if (!token.isEmpty()) counts.merge(token, 1, Integer::sum);
        BooleanQuery.Builder query = new BooleanQuery.Builder();
        for (var entry : counts.entrySet()) {
            Query one = new TermQuery(new Term("text", entry.getKey()));
            query.add(entry.getValue() == 1 ? one : new BoostQuery(one, entry.getValue()), BooleanClause.Occur.SHOULD);
        }
        return query.build();
    }

    static void answer(BufferedReader in, IndexSearcher searcher, int questions, int k, PrintStream out) throws Exception {
        for (int i = 0; i < questions; i++) {
            StringBuilder line = new StringBuilder();
            for (ScoreDoc found : searcher.search(query(in.readLine()), k).scoreDocs)
                line.append(line.isEmpty() ? "" : " ").append(found.doc).append(':').append(found.score);
            out.println(line);
        }
    }

    public static void main(String[] given) throws Exception {
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        var directory = build(in, Integer.parseInt(in.readLine().split(" ")[1]));
        IndexSearcher searcher = new IndexSearcher(DirectoryReader.open(directory));
        searcher.setSimilarity(SIMILARITY);
        out.println(org.apache.lucene.util.Version.LATEST);
        for (String line; (line = in.readLine()) != null;) {
            String[] words = line.split(" ");
            answer(in, searcher, Integer.parseInt(words[1]), Integer.parseInt(words[2]), out);
        }
        out.flush();
    }
}
